"""What grading an exercise comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..spec import Exercise
from .checklib import Verdict

Status = Literal["passed", "failed", "not attempted", "error", "timeout", "not run"]


@dataclass(frozen=True)
class CheckReport:
    """One check's verdict."""

    name: str
    verdict: Verdict
    diagnosis: str = ""
    message: str = ""


@dataclass(frozen=True)
class Report:
    """One exercise, graded. notes: what else a reader should know. printed: the end of what the code printed.

    skipped: the chapter that the student began at, when this exercise comes before it and so was not graded; else 0.
    stood_on: the exercises whose code was the student's own, beside this one.
    """

    exercise: Exercise
    status: Status
    seconds: float = 0.0
    checks: tuple[CheckReport, ...] = ()
    notes: tuple[str, ...] = ()
    printed: str = ""
    trace: tuple[str, ...] = ()
    skipped: int = 0
    stood_on: tuple[str, ...] = ()

    @property
    def score(self) -> int:
        """One point an exercise."""
        return int(self.status == "passed")

    @property
    def first_failure(self) -> CheckReport | None:
        """The first check that failed: what a student should look at."""
        return next((check for check in self.checks if check.verdict == "failed"), None)
