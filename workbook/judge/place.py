"""Which line of the student's a process is at, or was at when it crashed: read from what faulthandler writes."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Collection
from typing import IO

_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (\S+)$', re.MULTILINE)
_BYTES = 20_000


def place(printed: IO[bytes], shown: Collection[str], start: int = 0) -> str:
    """The innermost line among those that were written to `printed`, as ` (file:line in function)`; else empty.

    shown: the paths of the student's files, as tracebacks tell them. start: bytes that were there before.
    """
    with contextlib.suppress(OSError):
        printed.seek(max(start, printed.seek(0, os.SEEK_END) - _BYTES))
        text = printed.read(_BYTES).decode("utf-8", errors="replace")
        for name, line, function in _FRAME.findall(text):
            if name in shown:
                return f" ({name}:{line} in {function})"
    return ""


def ask_place(process: subprocess.Popen[bytes], printed: IO[bytes], shown: Collection[str], start: int) -> str:
    """The same for a process that still runs: it is asked with a signal. Empty where it does not tell in time."""
    if not hasattr(signal, "SIGUSR1"):
        return ""
    with contextlib.suppress(OSError):
        process.send_signal(signal.SIGUSR1)
    for _ in range(10):
        time.sleep(0.02)
        if found := place(printed, shown, start):
            return found
    return ""
