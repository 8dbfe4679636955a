"""Grade what one student has handed in: all exercises, in order, later ones on earlier ones that passed."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..handed_in import Unreadable, read_work
from ..student import Workplace
from .bench import Bench
from .gone import KNOWN
from .grade import Oracle
from .ground import Ground, grade_on, ground_of
from .rebinds import rebinds
from .verdicts import CheckReport, Report

HIDDEN = "hidden: "
"""What the names of hidden checks begin with in a report."""


@dataclass(frozen=True)
class Paper:
    """What a student wrote. texts: file -> text, None where nothing is there, or why it cannot be read."""

    texts: Mapping[str, str | Unreadable | None]

    @property
    def readable(self) -> dict[str, str]:
        """The files that are texts."""
        return {file: text for file, text in self.texts.items() if isinstance(text, str)}


@dataclass(frozen=True)
class Grader:
    """What grades any student's paper. places: all exercises of the workbook. benches: of the exercises to grade.

    hidden: exercise id -> a bench with a teacher's own checks. say: where progress goes.
    """

    places: Sequence[Workplace]
    benches: Sequence[Bench]
    seed: int
    oracle: Oracle
    say: Callable[[str], None]
    hidden: Mapping[str, Bench] = field(default_factory=dict)

    def read(self) -> dict[str, str]:
        """Exercise id -> digest of all that was read to grade it; "" -> of all stubs and references."""
        places = [f"{place.exercise}\n{place.stub}\n{place.reference}" for place in self.places]
        found = {"": hashlib.sha256("\n".join(places).encode()).hexdigest()}
        for bench in self.benches:
            id_ = bench.place.exercise.id
            found[id_] = bench.digest + (self.hidden[id_].digest if id_ in self.hidden else "")
        return found

    def __call__(self, paper: Paper, passed: Mapping[str, str], start: int) -> Iterator[tuple[Report, str]]:
        """Each exercise's report, with the digest of the text that was graded (empty when there was none).

        passed: exercise id -> digest of the text that last passed; what passes here is added to it for what follows.
        start: the chapter begun at; earlier ones are the reference's.
        """
        passed = dict(passed)
        for bench in self.benches:
            text = paper.texts.get(bench.place.exercise.file)
            if isinstance(text, str):
                ground = ground_of(bench.place, self.places, paper.readable, passed, start)
                report, digest = self._grade(bench, text, ground), bench.place.digest(text)
                if report.status == "passed":
                    passed[bench.place.exercise.id] = digest
                elif report.checks and passed.get(bench.place.exercise.id) == digest:
                    del passed[bench.place.exercise.id]
                yield report, digest
            elif text is None:
                yield Report(bench.place.exercise, "not attempted"), ""
            else:
                fault = CheckReport("load", "failed", "cannot-be-read", str(text))
                yield Report(bench.place.exercise, "error", 0.0, (fault,)), ""

    def _grade(self, bench: Bench, text: str, ground: Ground) -> Report:
        exercise = bench.place.exercise
        if not bench.place.is_attempted(text):
            return Report(exercise, "not attempted")
        self.say(f"grading {exercise.id}")
        report = grade_on(bench, text, ground, seed=self.seed, oracle=self.oracle)
        notes = rebinds(text, bench.place.reference, exercise.file, exercise.bodies)
        report = dataclasses.replace(report, notes=(*report.notes, *notes))
        if exercise.id not in self.hidden or bench.place.fault(text):
            return report
        if report.status in ("error", "timeout"):
            names = self.hidden[exercise.id].checks
            return with_hidden(
                report, Report(exercise, "not run", 0.0, tuple(CheckReport(n, "not run") for n in names))
            )
        hidden = grade_on(self.hidden[exercise.id], text, ground, seed=self.seed, oracle=self.oracle)
        return with_hidden(report, hidden)


def with_hidden(report: Report, hidden: Report, told: bool = False) -> Report:
    """One report of both. Of hidden checks only names and verdicts are in it: no message, no output, no traceback.

    told: with diagnoses and messages, for a teacher's own eyes.
    """
    checks = [dataclasses.replace(check, name=HIDDEN + check.name) for check in hidden.checks]
    notes, trace = report.notes, report.trace
    if told:
        notes, trace = (*notes, f"{len(checks)} hidden checks ran"), trace or hidden.trace
    else:
        if any(check.diagnosis == KNOWN["OutsideError"] for check in checks):
            notes = (*notes, "the code reached for something outside while a hidden check ran")
        checks = [
            CheckReport(c.name, c.verdict, told=f"[{c.diagnosis}] {c.message}" if c.diagnosis else "") for c in checks
        ]
    status = report.status if report.status != "passed" else hidden.status
    seconds = round(report.seconds + hidden.seconds, 2)
    return dataclasses.replace(
        report, status=status, seconds=seconds, checks=(*report.checks, *checks), notes=notes, trace=trace
    )


def read_paper(
    folder: Path, places: Sequence[Workplace], name: Callable[[Workplace], str], links_out: bool = True
) -> Paper:
    """Read the files of all exercises. name: where an exercise's file is below `folder`. links_out: see read_work."""
    texts: dict[str, str | Unreadable | None] = {}
    for place in places:
        try:
            texts[place.exercise.file] = read_work(folder, name(place), links_out)
        except Unreadable as error:
            texts[place.exercise.file] = error
    return Paper(texts)
