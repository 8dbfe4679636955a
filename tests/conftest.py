"""Ctrl-C reaches every test, also in a background job of a shell."""

from __future__ import annotations

import signal
import threading

import pytest


@pytest.fixture(autouse=True)
def interruptible():
    """Shells start background jobs with SIGINT ignored, and whatever these start inherits that. For a test and its
    processes it is as in a terminal.
    """
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if not ignored or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, signal.SIG_IGN)
