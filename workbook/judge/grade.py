"""Grade one exercise: run its checks against a student's text, in a process of its own."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from ..spec import Exercise
from .asker import Asker
from .bench import Bench
from .checklib import Check, OracleLike, OracleMissing, Result, short
from .gone import ChildError, ProbeRaised, ProcessGone
from .job import Job
from .parts import Piece, parts_of
from .paths import digest_of
from .process import Child
from .verdicts import CheckReport, Question, Report, Status

BROKEN = "check-is-broken"
"""The diagnosis when a check, and not the student's code, is at fault."""
VERDICTS = ("ok", "tie", "failed", "not run")
PATIENCE = 5.0
"""Seconds for an answer once a check has failed: what fails next is of less interest, and it may never end."""
Oracle = Callable[[], Sequence[OracleLike]]
Starter = Callable[[Job, float], AbstractContextManager[Child]]


def grade(
    bench: Bench,
    text: str,
    *,
    seed: int,
    oracle: Oracle,
    shown: str = "",
    stop: bool = False,
    own: Sequence[Piece] = (),
    seconds: float | None = None,
    start_child: Starter = Child,
) -> Report:
    """Grade a text as the module of the exercise.

    shown: its path in tracebacks. stop: at the first failure. own: what else is the student's; all other code is the
    package's. seconds: the limit, if lower than the exercise's. start_child: where its process comes from.
    """
    place, start = bench.place, time.monotonic()
    exercise = place.exercise
    if fault := place.fault(text):
        return _report(exercise, "error", start, _after(bench, [], CheckReport("load", "failed", *fault)))
    run = _Run(bench, text, seed, oracle, stop)
    limit = exercise.seconds if seconds is None else min(seconds, exercise.seconds)
    with start_child(job_of(bench, text, shown or exercise.file, own), limit) as child:
        run(child)
        printed = child.printed()
    checks = tuple(run.done) if run.complete or stop else _after(bench, run.done)
    report = _report(exercise, run.status, start, checks, printed, tuple(run.trace))
    return replace(report, questions=run.questions, seed=seed)


def job_of(bench: Bench, text: str, shown: str, own: Sequence[Piece] = ()) -> Job:
    """What a process is told that runs a text as the module of the exercise. shown, own: see grade."""
    return Job(
        root=str(bench.root),
        parts=parts_of(bench.place, text, shown, own),
        chapter=bench.place.exercise.chapter,
        probes=bench.probes,
        probes_file=bench.probes_file,
        memory_mb=bench.place.exercise.memory_mb,
        private=[digest_of(folder) for folder in bench.private],
    )


def valid(result: object) -> Result:
    """What a check returned, when that is a finding at all. Nothing else counts: no number, no True, no None."""
    if type(result) is not Result or result.verdict not in VERDICTS or not _consistent(result):
        return Result.failed(BROKEN, f"the check itself is broken, which is no fault of yours: it gave {short(result)}")
    return result


def _consistent(result: Result) -> bool:
    """A failure has a name, and only a failure has one."""
    return (
        type(result.diagnosis) is str
        and type(result.message) is str
        and type(result.section) is str
        and (result.verdict == "failed") == bool(result.diagnosis)
    )


@dataclass
class _Run:
    """One run through the checks of an exercise, with what came of it."""

    bench: Bench
    text: str
    seed: int
    oracle: Oracle
    stop: bool
    done: list[CheckReport] = field(default_factory=list)
    status: Status = "passed"
    trace: list[str] = field(default_factory=list)
    complete: bool = False
    questions: dict[str, Question] = field(default_factory=dict)

    def __call__(self, child: Child) -> None:
        try:
            child.load()
        except ChildError as error:
            self._note(error)
            self.done.append(CheckReport("load", "failed", error.diagnosis, str(error)))
            self.status = "timeout" if error.diagnosis == "timeout" else "error"
            return
        for name, check in self.bench.checks.items():
            wrong = self.status in ("failed", "error")
            ask = Asker(child, self.oracle, PATIENCE if wrong else math.inf)
            try:
                result = self._result(name, check, ask)
            except ProcessGone as error:
                if wrong and error.diagnosis == "timeout":
                    return  # the first failure is what counts, and what a student reads
                self.done.append(CheckReport(name, "failed", error.diagnosis, str(error)))
                self.status = "timeout" if error.diagnosis == "timeout" else "error"
                return
            self.done.append(CheckReport(name, result.verdict, result.diagnosis, result.message, result.section))
            if result.verdict == "failed":
                if ask.asked:
                    self.questions[name] = Question(*ask.asked, ask.used_oracle)
                self.status = "error" if result.diagnosis == BROKEN or self.status == "error" else "failed"
                if self.stop:
                    return
            elif result.verdict == "not run" and self.status == "passed":
                self.status = "not run"
        self.complete = True

    def _result(self, name: str, check: Check, ask: Asker) -> Result:
        """What one check says. Raises ProcessGone."""
        try:
            return valid(check(ask, Random(f"{self.seed} {self.bench.place.exercise.id} {name}")))
        except ProcessGone:
            raise
        except ChildError as error:
            if self.status == "passed":  # the traceback shown belongs to the failure shown: the first
                self._note(error)
            return Result.failed(error.diagnosis, str(error))
        except OracleMissing as error:
            return Result.not_run(str(error))
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            # The check stumbled over the shape of a value that the student's code returned.
            if self.text == self.bench.place.reference:
                self._where(error)
            return Result.failed("unexpected-value", f"the code returned a value of another form: {error!r}")
        except Exception as error:
            self._where(error)
            return Result.failed(BROKEN, f"the check itself broke off, which is no fault of yours: {error!r}")

    def _where(self, error: Exception) -> None:
        """The lines of the check, for whoever wrote it."""
        frames = traceback.extract_tb(error.__traceback__)[1:]
        self.trace = self.trace or [f"{Path(f.filename).name}:{f.lineno} in {f.name}: {f.line}" for f in frames]

    def _note(self, error: ChildError) -> None:
        if isinstance(error, ProbeRaised) and not self.trace:
            self.trace = [str(line) for line in error.trace]


def _after(bench: Bench, done: list[CheckReport], *more: CheckReport) -> tuple[CheckReport, ...]:
    """What was done, and every check left as not run."""
    names = {check.name for check in done}
    left = [name for name in bench.checks if name not in names]
    return (*done, *more, *(CheckReport(name, "not run", "", "the code had ended before") for name in left))


def _report(
    exercise: Exercise,
    status: Status,
    start: float,
    checks: tuple[CheckReport, ...],
    printed: str = "",
    trace: tuple[str, ...] = (),
) -> Report:
    seconds = round(time.monotonic() - start, 2)
    return Report(exercise, status, seconds, checks, printed=printed, trace=trace)
