"""Graded processes that stay for the next text: for the workbook's own texts only, whose authors can be trusted.

To start a process and to import torch and the tokenizer takes seconds, the checks of an exercise less than one.
A student's text always gets a process of its own.
"""

from __future__ import annotations

import contextlib
import dataclasses
import secrets
import threading
from collections.abc import Iterator

from .gone import ProcessGone
from .job import Job
from .process import Child
from .values import encode

MOST_JOBS = 40
"""Jobs after which a process is replaced: what they leave in memory counts for the next one."""


class LastingChild(Child):
    """A graded process that may take one job after another."""

    jobs = 1

    def turn_to(self, job: Job, seconds: float) -> bool:
        """Go on to another job. False when the process is not, or may not be, as a new one: then close it."""
        old = self.job
        same = (old.root, old.memory_mb, old.private) == (job.root, job.memory_mb, job.private)
        if self._gone or self._outside or self.jobs >= MOST_JOBS or not same:
            return False
        self.jobs += 1
        self.job, self.seconds, self.seconds_left = job, seconds, seconds
        self._files = {part.shown for part in job.parts}
        number = secrets.token_hex(8)
        self._send(encode({"id": number, "next": job.as_text()}))
        try:
            turned = self._receive(number, 20.0).get("value") == ""
        except ProcessGone:
            return False
        self._begun = self._printed.size()
        self.seconds_left = seconds
        return turned


class Shift:
    """Opens graded processes, as Child does, for any number of threads; keeps those that are free again.

    Use as a context manager: at the end all of them are closed.
    """

    def __init__(self) -> None:
        self._free: list[LastingChild] = []
        self._lock = threading.Lock()

    def __enter__(self) -> Shift:
        return self

    def __exit__(self, *_: object) -> None:
        while self._free:
            self._free.pop().close()

    @contextlib.contextmanager
    def __call__(self, job: Job, seconds: float) -> Iterator[Child]:
        """A process for the job; when it is not needed any more, it waits for the next."""
        job = dataclasses.replace(job, lasting=True)
        child = self._take(job, seconds) or LastingChild(job, seconds)
        try:
            yield child
        except BaseException:
            child.close()
            raise
        with self._lock:
            self._free.append(child)

    def _take(self, job: Job, seconds: float) -> LastingChild | None:
        with self._lock:
            child = self._free.pop() if self._free else None
        if child is None or child.turn_to(job, seconds):
            return child
        child.close()
        return None
