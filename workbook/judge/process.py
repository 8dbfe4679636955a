"""The judge's side of a graded process: ask it for values, under a time and a memory limit."""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any

from .environment import handed_on
from .gone import ChildError, ProbeRaised, ProcessGone
from .job import JOB_VARIABLE, Job
from .limits import end_family, memory_used, start
from .place import ask_place, place
from .printed import Printed
from .values import MAX_BYTES, NotAValue, decode, encode, plain

PRINTED_BYTES = 2000
POLL_SECONDS = 0.1
MEMORY_POLLS = 3


class Child:
    """A running graded process. Use as a context manager: at the end everything that it started is killed.

    The time limit counts only the time spent waiting for it, over all questions.
    """

    def __init__(self, job: Job, seconds: float = 60.0) -> None:
        self.job, self.seconds_left = job, seconds
        self.seconds = seconds
        self._files = {part.shown for part in job.parts}
        self._folder = Path(tempfile.mkdtemp(prefix="judge-"))
        self._job_file = self._folder / "job.json"
        self._mark = f"{JOB_VARIABLE}={self._job_file}"
        (self._folder / "cwd").mkdir()
        self._lines: queue.Queue[bytes | None] = queue.Queue(maxsize=64)
        self._gone: ProcessGone | None = None
        self._outside = ""
        self._begun = 0  # bytes that had been printed before this job
        self._said: int | None = None  # bytes that the code had printed when it was asked where it is
        self._printed = Printed()
        with self._printed.writing() as printed:
            self._process = start(
                [sys.executable, "-S", "-P", "-m", "workbook.judge.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=printed,
                cwd=self._folder / "cwd",
                env=self._environment(),
            )
        threading.Thread(target=_pump, args=(self._process.stdout, self._lines), daemon=True).start()
        self._send(job.as_text())

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def load(self) -> None:
        """Import the exercise's module. Raises ChildError."""
        self("", {}, seconds=30.0)

    def __call__(
        self, probe: str, args: dict[str, Any] | None = None, *, seconds: float = 20.0, xray: bool = False
    ) -> Any:
        """The value of `probe_<probe>(args)`, plain values only. Raises ProbeRaised, ProcessGone or ChildError.

        xray: then {"value": that value, "passes": what the model's layers made of it (see xray.py)}.
        """
        if self._gone:
            raise self._gone
        number = secrets.token_hex(8)
        request = plain({"id": number, "probe": probe, "args": args or {}, "xray": xray})
        self._send(encode(request))
        message = self._receive(number, min(seconds, self.seconds_left))
        if "raised" in message and type(message["raised"]) is dict:
            raise ProbeRaised(message["raised"])
        if self._outside:  # and yet it says nothing of it
            raise ProbeRaised({"type": "OutsideError", "message": self._outside})
        if "refused" in message:
            raise ChildError("not-a-value", f"the code returned something it should not: {message['refused']}")
        return message.get("value")

    def printed(self) -> str:
        """The end of what the student's code printed."""
        end = self._printed.size() if self._said is None else self._said
        return self._printed.last(min(end - self._begun, PRINTED_BYTES), end)

    def close(self) -> None:
        """Kill the process and its descendants, remove its folder."""
        end_family(self._process, self._mark)
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self._printed.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _send(self, line: str) -> None:
        with contextlib.suppress(OSError):  # a dead process is found out where its answer is awaited
            assert self._process.stdin is not None
            self._process.stdin.write((line + "\n").encode("utf-8"))
            self._process.stdin.flush()

    def _receive(self, number: str, seconds: float) -> dict[str, Any]:
        start = time.monotonic()
        try:
            while True:
                line = self._next_line(start, seconds)
                if line is None:
                    raise self._fail("exited", self._how_it_ended())
                try:
                    message = decode(line.decode("utf-8"))
                except (NotAValue, UnicodeDecodeError) as error:
                    raise self._fail("garbled", "the code wrote into the judge's own pipe") from error
                if type(outside := message.get("outside")) is str:
                    self._outside = self._outside or outside
                if message.get("id") == number:
                    return message
        finally:
            self.seconds_left -= time.monotonic() - start

    def _next_line(self, start: float, seconds: float) -> bytes | None:
        """The next line, or None when the process has ended. Watches time and memory while it waits."""
        looks = itertools.count()
        while True:
            ended = self._process.poll() is not None
            if time.monotonic() - start > seconds:
                self._said = self._printed.size()
                where = ask_place(self._process, self._printed.file, self._files, self._said)
                raise self._fail("timeout", f"no answer after {seconds:.0f} s: an endless loop?{where}")
            try:
                return self._lines.get(timeout=POLL_SECONDS)
            except queue.Empty:
                # A process that it left behind may hold the pipe open, so the pipe's end is no good sign.
                if ended:
                    return None
            # To look through all processes costs milliseconds, and a wait should cost next to nothing.
            if (
                next(looks) % MEMORY_POLLS == 0
                and memory_used(self._process.pid, self._mark) > self.job.memory_mb << 20
            ):
                raise self._fail("memory", f"the code used more than {self.job.memory_mb} MB of memory")

    def _fail(self, diagnosis: str, message: str) -> ProcessGone:
        self._gone = ProcessGone(diagnosis, message)
        end_family(self._process, self._mark)
        return self._gone

    def _how_it_ended(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1.0)
        code = self._process.returncode
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return f"the process died of {signal.Signals(-code).name}{place(self._printed.file, self._files)}"
        if code is None:
            return "the code closed the judge's own pipe"
        return f"the code ended the process, exit status {code}, before it gave an answer (os._exit?)"

    def _environment(self) -> dict[str, str]:
        workbook_root = str(Path(__file__).resolve().parents[2])
        ours = {
            JOB_VARIABLE: str(self._job_file),
            # Without -S it would look for packages itself, and run what lies beside them (*.pth, sitecustomize).
            "PYTHONPATH": os.pathsep.join(dict.fromkeys([self.job.root, workbook_root, *filter(None, sys.path)])),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "PYTHONUTF8": "1",
            "OMP_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self._folder)),
        }
        return {**handed_on(), **ours}


def _pump(pipe: IO[bytes] | None, lines: queue.Queue[bytes | None]) -> None:
    """Move lines of at most MAX_BYTES from the pipe to the queue; None at its end."""
    with contextlib.suppress(OSError, ValueError):
        while pipe is not None and (line := pipe.readline(MAX_BYTES + 1000)):
            lines.put(line)
    lines.put(None)
