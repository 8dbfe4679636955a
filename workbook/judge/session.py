"""One use of the judge: the exercises chosen, graded from the student's files, from the reference, or as variants."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from ..progress import Grading, Standing, first_chapter, passed_digests, record, standing
from ..stamps import Stamps
from ..student import Workplace, create_missing, workplaces
from .autopsy import with_findings
from .bench import Bench, load_bench
from .grade import Oracle, grade
from .guard import Guard
from .lasting import Shift
from .paper import Grader, Paper, read_paper, with_hidden
from .verdicts import CheckReport, Report


class UsageError(ValueError):
    """What was asked for does not exist; the message says what does."""


@dataclass(frozen=True)
class Session:
    """The workbook's folder and what every grading of it shares. say: where progress goes.

    private: folders that graded code may not read. hidden: exercise id -> a teacher's own checks.
    """

    root: Path
    seed: int
    oracle: Oracle
    say: Callable[[str], None]
    private: tuple[str, ...] = ()
    hidden: Mapping[str, Bench] = field(default_factory=dict)

    def places(self, names: Sequence[str] = ()) -> list[Workplace]:
        """The exercises named (`05`: a chapter, `05.1`: an exercise), in order; else all. Raises UsageError."""
        places = workplaces(self.root)
        if not names:
            return places
        wanted: set[str] = set()
        for name in names:
            hits = [p.exercise.id for p in places if name_matches(name, p.exercise.id)]
            if not hits:
                raise UsageError(
                    f"there is no exercise {name}; {_what_there_is(name, [p.exercise.id for p in places])}"
                )
            wanted.update(hits)
        return [place for place in places if place.exercise.id in wanted]

    def place(self, name: str) -> Workplace:
        """The one exercise named. Raises UsageError."""
        places = self.places([name])
        if len(places) != 1 or "." not in name:
            raise UsageError(f"{name} is not one exercise; name it like {places[0].exercise.id}")
        return places[0]

    def grader(self, names: Sequence[str] = (), start: int = 1) -> Grader:
        """What grades the exercises named; without names, those of the chapters from `start` on."""
        chosen = [place for place in self.places(names) if names or place.exercise.chapter >= start]
        benches = [self._bench(place) for place in chosen]
        return Grader(self.places(), benches, self.seed, self.oracle, self.say, self.hidden)

    def grade_student(self, names: Sequence[str] = ()) -> list[Report]:
        """Grade what was attempted, from the student's files; remember the results.

        Without names, the chapters before the one that the student began at are skipped.
        """
        for path in create_missing(self.root):
            self.say(f"made {path} from its stub")
        # Checks, probes, stubs, texts and the reference are all read before the first line of student code runs.
        start, passed, stamps = first_chapter(self.root), passed_digests(self.root), Stamps(self.root)
        grader = self.grader(names, start)
        paper = self.paper(grader.places)
        bases = {bench.place.exercise.id: stamps.basis(bench.place) for bench in grader.benches}
        skipped = [] if names else [place for place in grader.places if place.exercise.id not in bases]
        reports = [Report(place.exercise, "not attempted", skipped=start) for place in skipped]
        benches = {bench.place.exercise.id: bench for bench in grader.benches}
        gradings: dict[str, Grading] = {}
        guard = Guard(self.root)
        for report, digest in grader(paper, passed, start):
            id_ = report.exercise.id
            report = with_findings(benches[id_], paper.readable.get(report.exercise.file, ""), report)
            if changed := guard.changed():
                report, guard = _spoilt(report, changed), Guard(self.root)
            reports.append(report)
            if report.status == "passed":
                passed[id_] = digest
                own = {other: passed[other] for other in report.stood_on}
                gradings[id_] = Grading("passed", digest, dataclasses.replace(bases[id_], own=own))
            else:
                forget = bool(report.checks and digest) and passed.get(id_) == digest
                gradings[id_] = Grading(report.status, digest, forget=forget)
        record(self.root, gradings)
        return reports

    def paper(self, places: Sequence[Workplace]) -> Paper:
        """The student's files."""
        return read_paper(self.root, places, lambda place: place.exercise.file)

    def standing(self) -> Standing:
        """Where the student stands."""
        return standing(self.root, self.places())

    def grade_reference(self, names: Sequence[str] = ()) -> list[Report]:
        """Grade the package's own modules, two at a time; the order of the answer and of what is said is fixed."""
        benches = self.benches(names)
        reports: list[Report] = []
        with Shift() as shift, ThreadPoolExecutor(2) as pool:
            for number, report in enumerate(pool.map(lambda bench: self._grade_own(bench, shift), benches), 1):
                reports.append(report)
                self.say(f"[{number:>2}/{len(benches)}] {report.exercise.id} {report.status}")
        return reports

    def _grade_own(self, bench: Bench, shift: Shift) -> Report:
        report, hidden = self._grade_text(bench, shift), self.hidden.get(bench.place.exercise.id)
        return with_hidden(report, self._grade_text(hidden, shift), told=True) if hidden else report

    def _grade_text(self, bench: Bench, shift: Shift) -> Report:
        place = bench.place
        shown = place.exercise.package_file
        return grade(bench, place.reference, seed=self.seed, oracle=self.oracle, shown=shown, start_child=shift)

    def benches(self, names: Sequence[str] = ()) -> list[Bench]:
        """What grades the exercises named."""
        return [self._bench(place) for place in self.places(names)]

    def _bench(self, place: Workplace) -> Bench:
        return dataclasses.replace(load_bench(self.root, place), private=self.private)


def _spoilt(report: Report, changed: Sequence[str]) -> Report:
    """The report of an exercise during which files of the workbook changed."""
    message = f"{', '.join(changed[:3])} changed while this was graded, so it does not count. `git status` shows what"
    message += " is different, `git checkout -- exercises workbook minisgl_lite` restores it"
    fault = CheckReport("load", "failed", "changed-the-workbook", message)
    return dataclasses.replace(report, status="error", checks=(fault, *report.checks))


def _what_there_is(name: str, ids: Sequence[str]) -> str:
    """For whoever named an exercise that is not there: those of the same chapter, else the chapters."""
    beside = [id_ for id_ in ids if name_matches(name.partition(".")[0], id_)]
    if beside:
        return f"chapter {beside[0].partition('.')[0]} has {', '.join(beside)}"
    return f"chapters: {', '.join(dict.fromkeys(id_.partition('.')[0] for id_ in ids)) or 'none'}"


def name_matches(name: str, id_: str) -> bool:
    """Whether `5`, `05`, `5.1` or `05.1` names the exercise."""
    chapter, dot, number = name.partition(".")
    if not chapter.isdecimal() or (dot and not number.isdecimal()):
        return False
    mine = id_.split(".")
    return int(chapter) == int(mine[0]) and (not dot or int(number) == int(mine[1]))
