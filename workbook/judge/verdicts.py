"""What grading an exercise comes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..spec import Exercise
from .checklib import Verdict

Status = Literal["passed", "failed", "not attempted", "error", "timeout", "not run"]


@dataclass(frozen=True)
class CheckReport:
    """One check's verdict. section: the heading to re-read, where it is another than the exercise's.

    told: what a hidden check found, for a teacher's own report only.
    """

    name: str
    verdict: Verdict
    diagnosis: str = ""
    message: str = ""
    section: str = ""
    told: str = ""


@dataclass(frozen=True)
class Question:
    """What a check had asked of the student's code when it failed. oracle: to compare it with Hugging Face's tokens."""

    probe: str
    args: dict[str, Any]
    oracle: bool


@dataclass(frozen=True)
class Report:
    """One exercise, graded. notes: what else a reader should know. printed: the end of what the code printed.

    skipped: the chapter that the student began at, when this exercise comes before it and so was not graded; else 0.
    stood_on: the exercises whose code was the student's own, beside this one. questions: check -> what it had asked
    last, for those that failed. seed: what the inputs were drawn with.
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
    seed: int = 0
    questions: Mapping[str, Question] = field(default_factory=dict)

    @property
    def score(self) -> int:
        """One point an exercise."""
        return int(self.status == "passed")

    @property
    def first_failure(self) -> CheckReport | None:
        """The first check that failed: what a student should look at."""
        return next((check for check in self.checks if check.verdict == "failed"), None)
