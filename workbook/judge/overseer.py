"""Grade one submission of a class in a process of its own, and outlive whatever it does to that process."""

from __future__ import annotations

import contextlib
import json
import queue
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ..handed_in import Unreadable
from ..spec import Exercise
from ..tree import PACKAGE
from .environment import handed_on
from .limits import end_family, start
from .memory import OPTIONS, START, packed
from .paper import Paper
from .verdicts import CheckReport, Report
from .worker import READY, from_values, verified

MARK_VARIABLE = "MINISGL_JUDGE_SUBMISSION"
CLASSROOM = Path(__file__).resolve().parents[2]
KILLED = "judge-killed"
"""The diagnosis when a grading process ended before it had reported."""
NOT_STARTED = "judge-did-not-start"
"""The diagnosis when it did not come as far as to run the submission."""
RUNS = 8
"""An exercise is run a few times at most (see ground.py): its time limit times this, and START_SECONDS, is patience."""
START_SECONDS = 60.0


@dataclass(frozen=True)
class Order:
    """How all submissions of a class are graded. hidden: folder of hidden checks, or empty. private: see Bench.

    oracle: Hugging Face's tokens (see oracles.packed). read: see Grader.read: what a grading process has read must be
    that. classroom: the texts that the grading processes run from, read when the order is made.
    """

    root: Path
    seed: int
    oracle: dict[str, Any]
    hidden: str
    private: tuple[str, ...]
    read: Mapping[str, str]
    classroom: dict[str, object] = field(init=False)

    def __post_init__(self) -> None:
        ours = [str(self.root), str(CLASSROOM)]
        path = [*(folder for folder in sys.path if folder and folder not in ours), *dict.fromkeys(ours)]
        package = next(base / PACKAGE for base in (self.root, CLASSROOM) if (base / PACKAGE).is_dir())
        object.__setattr__(self, "classroom", packed(CLASSROOM, "workbook.judge.worker", path, package))


def grade_submission(
    order: Order, exercises: Sequence[Exercise], paper: Paper, look: Callable[[], None] = lambda: None
) -> list[Report]:
    """A report for each exercise, in order. An exercise whose grading process dies is an error, the rest goes on;
    when one does not even start, all that is left is.

    look: called before each grading process starts; sees to it that the files it will read are what they were.
    """
    reports: list[Report] = []
    passed: dict[str, str] = {}
    while left := exercises[len(reports) :]:
        look()
        try:
            lines = _Worker(order, left, paper, passed).lines()
        except (NotStarted, OSError) as error:
            fault = CheckReport("load", "failed", NOT_STARTED, f"the grading process did not start: {error}")
            return [*reports, *(Report(exercise, "error", 0.0, (fault,)) for exercise in left)]
        for values in lines:
            report = from_values(values, left[0])
            reports.append(report)
            left = left[1:]
            if report.status == "passed":
                passed[report.exercise.id] = values["digest"]
        if left:
            message = "the process that graded it was stopped or killed from inside the submission"
            reports.append(Report(left[0], "error", 0.0, (CheckReport("load", "failed", KILLED, message),)))
    return reports


class NotStarted(RuntimeError):  # noqa: N818  it names a state of things
    """A grading process did not get as far as to run the submission; the message says what is known."""


class _Worker:
    """One worker process and what comes out of it."""

    def __init__(self, order: Order, exercises: Sequence[Exercise], paper: Paper, passed: Mapping[str, str]) -> None:
        self.exercises, self._read = exercises, order.read
        self._folder = Path(tempfile.mkdtemp(prefix="judge-class-"))
        self._mark = f"{MARK_VARIABLE}={self._folder}"
        self._errors = (self._folder / "errors.txt").open("w+b")
        self._secret = secrets.token_hex(32)
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._process = start(
            [sys.executable, *OPTIONS, "-c", START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=self._folder,
            env=self._environment(),
        )
        threading.Thread(target=self._pump, args=(self._process.stdout,), daemon=True).start()
        request = {
            "secret": self._secret,
            "root": str(order.root),
            "ids": [exercise.id for exercise in exercises],
            "seed": order.seed,
            "oracle": order.oracle,
            "hidden": order.hidden,
            "private": order.private,
            "passed": passed,
            "texts": {f: [str(text)] if isinstance(text, Unreadable) else text for f, text in paper.texts.items()},
        }
        with contextlib.suppress(OSError):  # a process that has died gives no reports
            assert self._process.stdin is not None
            for line in (order.classroom, request):
                self._process.stdin.write(json.dumps(line).encode("ascii") + b"\n")
            self._process.stdin.close()

    def lines(self) -> list[dict[str, Any]]:
        """The values of the reports that came, in order, until all are there or the process is of no more use.

        Raises NotStarted.
        """
        got: list[dict[str, Any]] = []
        try:
            if not (ready := self._next(time.monotonic() + START_SECONDS)) or ready["id"] != READY:
                raise NotStarted(self._said())
            if any(self._read.get(key) != digest for key, digest in ready["read"].items()):
                raise NotStarted("what it had read was not what lay there at the beginning")
            for exercise in self.exercises:
                values = self._next(time.monotonic() + RUNS * exercise.seconds + START_SECONDS)
                if values is None or values["id"] != exercise.id:
                    break
                got.append(values)
        finally:
            end_family(self._process, self._mark)
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._errors.close()
            shutil.rmtree(self._folder, ignore_errors=True)
        return got

    def _said(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit status {self._process.poll()}"

    def _next(self, until: float) -> dict[str, Any] | None:
        while time.monotonic() < until:
            with contextlib.suppress(queue.Empty):
                line = self._lines.get(timeout=0.2)
                if line is None:
                    return None
                if values := verified(self._secret, line):
                    return values
                continue
            if self._process.poll() is not None and self._lines.empty():
                return None
        return None

    def _pump(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while line := pipe.readline(20_000_000):
                self._lines.put(line.decode("utf-8", errors="replace"))
        self._lines.put(None)

    def _environment(self) -> dict[str, str]:
        ours = {
            MARK_VARIABLE: str(self._folder),
            **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self._folder)),
        }
        return {**handed_on(), **ours}
