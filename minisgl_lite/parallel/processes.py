"""The processes of the other ranks on this machine: started, watched, ended. Chapter 13."""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

START = "import sys; sys.path[:] = {path!r}; from minisgl_lite.parallel.rank import main; main()"
GRACE = 5.0
"""Seconds that a rank has to end by itself, before it is killed."""


def inherited_finders() -> list[Any]:
    """The finders of this process that replace or hide modules of the package, and say that its ranks need them too.

    The classroom's do, which put a student's file in a module's place, or hide later chapters: they have a true
    attribute `for_ranks`, and can be pickled.
    """
    return [finder for finder in sys.meta_path if getattr(finder, "for_ranks", False)]


class Processes:
    """Processes that run ranks 1, 2, ...: a fresh interpreter each, which never imports the caller's main module.

    Each has its standard input for a lifeline: what it needs for its start comes that way, and when it ends, because
    this process is gone by whatever cause, so does the rank. They ignore Ctrl-C, which is this process's business.
    """

    def __init__(self, jobs: Sequence[object], lost: Callable[[], None]) -> None:
        """jobs: for each rank what `rank.main` takes. `lost`: called, by another thread, when one ends unasked."""
        self._lost, self._ending, self._owner = lost, False, os.getpid()
        self._processes: list[subprocess.Popen[bytes]] = []
        finders = pickle.dumps(inherited_finders())
        try:
            for job in jobs:
                self._start(pickle.dumps((finders, job)))
        except BaseException:
            self.end(orderly=False)
            raise
        for process in self._processes:
            threading.Thread(target=self._watch, args=(process,), daemon=True, name="tp-watch").start()

    def _start(self, job: bytes) -> None:
        # Python itself passes over what is no string there
        path = [entry for entry in sys.path if isinstance(entry, str)]
        command = [sys.executable, "-c", START.format(path=path)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE)
        self._processes.append(process)
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended already: whoever waits for it will notice
            process.stdin.write(job)
            process.stdin.flush()

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        if not self._ending:
            self._lost()

    @property
    def pids(self) -> list[int]:
        """Process ids, rank by rank."""
        return [process.pid for process in self._processes]

    def first_ended(self) -> tuple[int, int] | None:
        """(rank, exit status) of one that has ended; of several, one that was killed or crashed."""
        ended = [(rank, s) for rank, p in enumerate(self._processes, 1) if (s := p.poll()) is not None]
        return min(ended, key=lambda pair: pair[1] in (0, 1), default=None)

    def require_alive(self) -> None:
        """Raise ChildProcessError when one has ended."""
        for rank, process in enumerate(self._processes, 1):
            if process.poll() is not None:
                raise ChildProcessError(f"the process of rank {rank} has ended, with status {process.returncode}")

    def end(self, orderly: bool) -> None:
        """Wait for all to end, and kill those that do not. orderly: they have been told to; else: at once.

        In a process that was forked from the one that started them: does nothing, they are not its own.
        """
        if os.getpid() != self._owner:
            return
        self._ending = True
        until = time.monotonic() + (GRACE if orderly else 0.0)
        try:
            for process in self._processes:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.0, until - time.monotonic()))
        finally:  # Ctrl-C shortens the wait, and leaves nobody behind
            for process in self._processes:
                process.kill()
                process.wait()
            self.close_lifelines()

    def close_lifelines(self) -> None:
        """Close this process's ends. In a fork, its copies would keep the ranks alive when their rank 0 is gone."""
        for process in self._processes:
            if process.stdin is not None:
                with contextlib.suppress(OSError):
                    process.stdin.close()
