"""One use of the judge: the exercises chosen, graded from the student's files, from the reference, or as variants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..stubs import read_text
from ..student import Workplace, create_missing, first_chapter, passed_digests, record_results, workplaces
from .grade import Bench, Oracle, grade, load_bench
from .ground import Ground, grade_on, ground_of
from .verdicts import CheckReport, Report

MAX_TEXT = 1_000_000


class UsageError(ValueError):
    """What was asked for does not exist; the message says what does."""


@dataclass(frozen=True)
class Session:
    """The workbook's folder and what every grading of it shares. say: where progress goes."""

    root: Path
    seed: int
    oracle: Oracle
    say: Callable[[str], None]

    def places(self, names: Sequence[str] = ()) -> list[Workplace]:
        """The exercises named (`05`: a chapter, `05.1`: an exercise), in order; else all. Raises UsageError."""
        places = workplaces(self.root)
        if not names:
            return places
        wanted: set[str] = set()
        for name in names:
            hits = [p.exercise.id for p in places if name_matches(name, p.exercise.id)]
            if not hits:
                there = ", ".join(p.exercise.id for p in places) or "none"
                raise UsageError(f"there is no exercise {name}; exercises: {there}")
            wanted.update(hits)
        return [place for place in places if place.exercise.id in wanted]

    def place(self, name: str) -> Workplace:
        """The one exercise named. Raises UsageError."""
        places = self.places([name])
        if len(places) != 1 or "." not in name:
            raise UsageError(f"{name} is not one exercise; name it like {places[0].exercise.id}")
        return places[0]

    def grade_student(self, names: Sequence[str] = ()) -> list[Report]:
        """Grade what was attempted, from the student's files; remember the results.

        Without names, the chapters before the one that the student began at are skipped.
        """
        for path in create_missing(self.root):
            self.say(f"made {path} from its stub")
        # Checks, probes, stubs, texts and the reference are all read before the first line of student code runs.
        start, passed = first_chapter(self.root), passed_digests(self.root)
        places = self.places()
        texts = {place.exercise.file: self._student_text(place) for place in places}
        chosen = self.places(names)
        skipped = [p for p in chosen if not names and p.exercise.chapter < start]
        benches = [load_bench(self.root, place) for place in chosen if place not in skipped]
        reports = [Report(place.exercise, "not attempted", skipped=start) for place in skipped]
        record: dict[str, str] = {}
        readable = {file: text for file, text in texts.items() if isinstance(text, str)}
        for bench in benches:
            place = bench.place
            text = texts[place.exercise.file]
            ground = ground_of(place, places, readable, passed, start)
            report = self._grade_one(bench, text, ground)
            reports.append(report)
            if isinstance(text, str):
                record |= _remembered(report, place.digest(text), passed)
                passed |= record
        record_results(self.root, {r.exercise.id: r.status for r in reports if not r.skipped}, record)
        return reports

    def grade_reference(self, names: Sequence[str] = ()) -> list[Report]:
        """Grade the package's own modules."""
        reports: list[Report] = []
        for bench in self.benches(names):
            exercise = bench.place.exercise
            self.say(f"grading {exercise.id} (reference)")
            shown = exercise.package_file
            reports.append(grade(bench, bench.place.reference, seed=self.seed, oracle=self.oracle, shown=shown))
        return reports

    def benches(self, names: Sequence[str] = ()) -> list[Bench]:
        """What grades the exercises named."""
        return [load_bench(self.root, place) for place in self.places(names)]

    def _grade_one(self, bench: Bench, text: str | CheckReport, ground: Ground) -> Report:
        exercise = bench.place.exercise
        if isinstance(text, CheckReport):
            return Report(exercise, "error", 0.0, (text,))
        if not bench.place.is_attempted(text):
            return Report(exercise, "not attempted")
        self.say(f"grading {exercise.id}")
        return grade_on(bench, text, ground, seed=self.seed, oracle=self.oracle)

    def _student_text(self, place: Workplace) -> str | CheckReport:
        """The student's text, or why there is none."""
        path = self.root / place.exercise.file
        try:
            if path.stat().st_size > MAX_TEXT:
                message = f"{place.exercise.file} is larger than {MAX_TEXT} bytes"
                return CheckReport("load", "failed", "cannot-be-read", message)
            return read_text(path)
        except (OSError, UnicodeDecodeError) as error:
            return CheckReport("load", "failed", "cannot-be-read", f"{place.exercise.file} cannot be read: {error}")


def _remembered(report: Report, digest: str, passed: Mapping[str, str]) -> dict[str, str]:
    """What a grading changes in the digests of texts that have passed: exercise id -> digest, empty to forget it."""
    id_ = report.exercise.id
    if report.status == "passed":
        return {id_: digest}
    return {id_: ""} if report.checks and passed.get(id_) == digest else {}


def name_matches(name: str, id_: str) -> bool:
    """Whether `5`, `05`, `5.1` or `05.1` names the exercise."""
    chapter, dot, number = name.partition(".")
    if not chapter.isdecimal() or (dot and not number.isdecimal()):
        return False
    mine = id_.split(".")
    return int(chapter) == int(mine[0]) and (not dot or int(number) == int(mine[1]))
