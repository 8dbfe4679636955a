"""Grade one exercise: run its checks against a student's text, in a process of its own."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from ..spec import Exercise, SpecError
from ..stubs import read_text
from ..student import Workplace
from .checkfiles import checks_path, load_checks
from .checklib import Check, OracleLike, OracleMissing, Result
from .job import Job
from .parts import Piece, parts_of
from .process import Child, ChildError, ProbeRaised, ProcessGone
from .verdicts import CheckReport, Report, Status

Oracle = Callable[[], Sequence[OracleLike]]


@dataclass(frozen=True)
class Bench:
    """What grades one exercise, read before any student code runs."""

    root: Path
    place: Workplace
    checks: Mapping[str, Check]
    probes: str
    probes_file: str


class Asker:
    """Hands a check's questions to the child; implements checklib.Ask."""

    def __init__(self, child: Child, oracle: Oracle) -> None:
        self.child, self.oracle = child, oracle

    def __call__(self, probe: str, args: dict[str, Any] | None = None, *, seconds: float = 20.0) -> Any:
        """See checklib.Ask."""
        return self.child(probe, args, seconds=seconds)


def load_bench(root: Path, place: Workplace) -> Bench:
    """Read the checks and probes of an exercise. Raises SpecError when one is missing."""
    exercise = place.exercise
    probes = f"{exercise.folder}/probes.py"
    if not (root / probes).is_file():
        raise SpecError(f"{probes} is missing")
    module = load_checks(root, exercise)
    checks: dict[str, Check] = {}
    for check in exercise.checks:
        function = getattr(module, "check_" + re.sub(r"\W+", "_", check), None)
        if function is None:
            file = checks_path(root, exercise)
            raise SpecError(f"{file} has no function for the check {check!r} of {exercise.id}")
        checks[check] = function
    return Bench(root, place, checks, read_text(root / probes), probes)


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
) -> Report:
    """Grade a text as the module of the exercise.

    shown: its path in tracebacks. stop: at the first failure. own: what else is the student's; all other code is the
    package's. seconds: the limit, if lower than the exercise's.
    """
    place, start = bench.place, time.monotonic()
    exercise = place.exercise
    if fault := place.fault(text):
        return _report(exercise, "error", start, _after(exercise, [], CheckReport("load", "failed", *fault)))
    job = Job(
        root=str(bench.root),
        parts=parts_of(place, text, shown or exercise.file, own),
        chapter=exercise.chapter,
        probes=bench.probes,
        probes_file=bench.probes_file,
        memory_mb=exercise.memory_mb,
    )
    run = _Run(bench, seed, oracle, stop)
    limit = exercise.seconds if seconds is None else min(seconds, exercise.seconds)
    with Child(job, limit) as child:
        run(child)
        printed = child.printed()
    checks = tuple(run.done) if run.complete or stop else _after(exercise, run.done)
    return _report(exercise, run.status, start, checks, printed, tuple(run.trace))


@dataclass
class _Run:
    """One run through the checks of an exercise, with what came of it."""

    bench: Bench
    seed: int
    oracle: Oracle
    stop: bool
    done: list[CheckReport] = field(default_factory=list)
    status: Status = "passed"
    trace: list[str] = field(default_factory=list)
    complete: bool = False

    def __call__(self, child: Child) -> None:
        ask = Asker(child, self.oracle)
        try:
            child.load()
        except ChildError as error:
            self._note(error)
            self.done.append(CheckReport("load", "failed", error.diagnosis, str(error)))
            self.status = "timeout" if error.diagnosis == "timeout" else "error"
            return
        for name, check in self.bench.checks.items():
            try:
                result = check(ask, Random(f"{self.seed} {self.bench.place.exercise.id} {name}"))
            except ProcessGone as error:
                self.done.append(CheckReport(name, "failed", error.diagnosis, str(error)))
                self.status = "timeout" if error.diagnosis == "timeout" else "error"
                return
            except ChildError as error:
                if self.status == "passed":  # the traceback shown belongs to the failure shown: the first
                    self._note(error)
                result = Result.failed(error.diagnosis, str(error))
            except OracleMissing as error:
                result = Result.not_run(str(error))
            except (TypeError, ValueError, LookupError, AttributeError) as error:
                # The check stumbled over the shape of a value that the student's code returned.
                result = Result.failed("unexpected-value", f"the code returned a value of another form: {error!r}")
            self.done.append(CheckReport(name, result.verdict, result.diagnosis, result.message))
            if result.verdict == "failed":
                self.status = "failed"
                if self.stop:
                    return
            elif result.verdict == "not run" and self.status == "passed":
                self.status = "not run"
        self.complete = True

    def _note(self, error: ChildError) -> None:
        if isinstance(error, ProbeRaised) and not self.trace:
            self.trace = [str(line) for line in error.trace]


def _after(exercise: Exercise, done: list[CheckReport], *more: CheckReport) -> tuple[CheckReport, ...]:
    """What was done, and every check left as not run."""
    names = {check.name for check in done}
    left = [name for name in exercise.checks if name not in names]
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
