"""Where the process of a rank begins. Chapter 13."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from typing import NoReturn


def main() -> NoReturn:
    """Take a job from standard input and follow rank 0 until it closes. Ends the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # rank 0 decides what Ctrl-C ends
    with os.fdopen(0, "rb", closefd=False) as source:
        finders, job = pickle.load(source)
    threading.Thread(target=_end_with_rank_0, daemon=True, name="tp-lifeline").start()
    # before any other module of the package is imported
    sys.meta_path[:0] = pickle.loads(finders)
    from .group import follow_at

    status = follow_at(*job)
    # nothing is left to be done in order, and taking an interpreter with torch in it apart takes long
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(status)


def _end_with_rank_0() -> None:
    """Wait until standard input ends: then rank 0 is gone, and nothing that is under way here will ever be done."""
    while os.read(0, 1):
        pass
    os._exit(1)
