"""`judge.py --class DIR`: grade a folder of submissions, two at a time, each in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from ..spec import Exercise
from .guard import Guard
from .overseer import KILLED, NOT_STARTED, Order, grade_submission
from .submissions import Submission
from .verdicts import CheckReport, Report

AT_A_TIME = 2


@dataclass(frozen=True)
class Marked:
    """A graded submission. fault: why nothing was graded, else empty; its exercises are then errors.

    base: see Submission.
    """

    name: str
    reports: tuple[Report, ...]
    fault: str = ""
    notes: tuple[str, ...] = ()
    base: str = "work/exercises"

    @property
    def score(self) -> int:
        """Points."""
        return sum(report.score for report in self.reports)


def grade_class(
    order: Order,
    submissions: Sequence[Submission],
    exercises: Sequence[Exercise],
    guarded: Sequence[Path],
    say: Callable[[str], None],
) -> list[Marked]:
    """Grade all submissions; the answer is in their order, whoever is done first. say: a line for each that is done.

    guarded: folders beside the workbook that submissions must leave as they are.
    """
    keeper = _Keeper(Guard(order.root, guarded, folders=True), say)

    def run(submission: Submission) -> Marked:
        if submission.fault:
            return _faulty(submission, exercises, submission.fault)
        with keeper.watching(submission.name):
            reports = grade_submission(order, exercises, submission.paper, keeper.look)
        return Marked(submission.name, tuple(reports), notes=submission.notes, base=submission.base)

    marked: list[Marked] = []
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for number, one in enumerate(pool.map(run, submissions), 1):
            marked.append(one)
            say(f"[{number:>{len(str(len(submissions)))}}/{len(submissions)}] {one.name}: {told(one)}")
    for index, submission in enumerate(submissions):
        why = "files of the workbook had changed meanwhile" if submission.name in keeper.suspects else ""
        if why := why or _killed(marked[index]):
            say(f"{submission.name}: once more, alone, because {why}")
            keeper.changed.clear()
            again = run(submission)
            fault = f"changed files of the workbook while it was graded: {', '.join(keeper.changed[:3])}"
            marked[index] = _faulty(submission, exercises, fault) if keeper.changed else again
    return marked


def _killed(marked: Marked) -> str:
    """Why it is graded once more: who was graded beside it may have killed its judge, or kept it from starting."""
    found = {check.diagnosis for report in marked.reports for check in report.checks}
    if NOT_STARTED in found:
        return "its grading process did not start"
    return "its grading process was killed" if KILLED in found else ""


def told(marked: Marked) -> str:
    """`9 of 12 points, 1 failed, 1 timeout`."""
    if marked.fault:
        return marked.fault
    statuses = [report.status for report in marked.reports]
    words = [f"{statuses.count(status)} {status}" for status in dict.fromkeys(statuses) if status != "passed"]
    return ", ".join([f"{marked.score} of {len(statuses)} points", *sorted(words)])


def _faulty(submission: Submission, exercises: Sequence[Exercise], fault: str) -> Marked:
    reports = [Report(e, "error", 0.0, (CheckReport("load", "failed", "cannot-be-graded", fault),)) for e in exercises]
    return Marked(submission.name, tuple(reports), fault, submission.notes, submission.base)


class _Keeper:
    """Who was being graded when files of the workbook changed."""

    def __init__(self, guard: Guard, say: Callable[[str], None]) -> None:
        self.suspects: set[str] = set()  # only asked for membership: the order is that of the submissions
        self.changed: list[str] = []
        self._guard, self._say, self._running, self._lock = guard, say, set[str](), Lock()

    @contextmanager
    def watching(self, name: str) -> Iterator[None]:
        """While a submission is graded. Whatever has changed by its end is put back; all that ran are suspects."""
        with self._lock:
            self._running.add(name)
        try:
            yield
        finally:
            self.look()
            with self._lock:
                self._running.remove(name)

    def look(self) -> None:
        """Put back what has changed; all that run now are suspects."""
        with self._lock:
            if changed := self._guard.changed():
                removed = self._guard.restore()
                where = f"; what stood there is in {removed}" if removed else ""
                self._say(f"files of the workbook were changed and put back{where}")
                self.changed += changed
                self.suspects |= self._running
