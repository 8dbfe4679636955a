"""What a student has written: the files in `work/`, what in them is still blank, and what was revealed and passed."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from .source import SourceError, body_key, has_definition, parse, put_definition
from .spec import Exercise, load_exercises
from .stubs import read_text, stub_text
from .tree import ROOT

PROGRESS = "work/progress.json"
_SECTIONS = ("results", "hints", "passed", "settings")


@dataclass(frozen=True)
class Workplace:
    """Everything that grading one exercise reads from disk, read before any student code runs.

    stub: the pristine stub. reference: the package's module. neighbours: all exercises of the same student file.
    """

    exercise: Exercise
    stub: str
    reference: str
    neighbours: tuple[Exercise, ...]

    def is_attempted(self, text: str) -> bool:
        """False while every body asked for equals the stub's. A text that lacks one, or does not parse, counts."""
        try:
            return any(not self._is_blank(text, name) for name in self.exercise.bodies)
        except SourceError:
            return True

    def fault(self, text: str) -> tuple[str, str] | None:
        """(diagnosis, message) when the text cannot be graded at all: it does not parse, or lacks a body."""
        try:
            missing = [name for name in self.exercise.bodies if not has_definition(text, name)]
        except SourceError as error:
            return "does-not-parse", f"{self.exercise.file} does not parse: {error}"
        if missing:
            return "body-missing", f"{self.exercise.file} no longer defines {missing[0]}; `--reset {self.exercise.id}`"
        return None

    def borrowed(self, text: str, own: Collection[Exercise] = ()) -> list[str]:
        """Qualnames that grading takes from the reference: bodies of other exercises, and helpers still blank.

        own: other exercises of the file whose bodies stay the student's.
        """
        others = [name for e in self.neighbours if e != self.exercise and e not in own for name in e.bodies]
        helpers = [name for e in self.neighbours for name in e.hidden]
        kept = {name for e in (self.exercise, *own) for name in e.bodies}
        names = [name for name in dict.fromkeys([*others, *helpers]) if name not in kept]
        return [n for n in names if has_definition(text, n) and (n in others or self._is_blank(text, n))]

    def digest(self, text: str) -> str:
        """Equal for two texts that this exercise is graded the same in: the bodies of the other exercises of the file
        do not count, nor do comments and layout. Empty when the text does not parse, or lacks one of those bodies.
        """
        try:
            for name in (name for e in self.neighbours if e != self.exercise for name in e.bodies):
                text = put_definition(text, self.stub, name)
            dump = ast.dump(parse(text))
        except (SourceError, RecursionError):
            return ""
        return hashlib.sha256(dump.encode("utf-8", errors="surrogatepass")).hexdigest()

    def solved(self, text: str) -> str:
        """The student's text with this exercise's definitions, and helpers still blank, put in from the reference."""
        helpers = [n for n in self.exercise.hidden if not has_definition(text, n) or self._is_blank(text, n)]
        for name in [*self.exercise.bodies, *helpers]:
            text = put_definition(text, self.reference, name)
        return text

    def restored(self, text: str) -> str:
        """The student's text with this exercise's definitions as in the stub; everything else stays."""
        for name in [*self.exercise.bodies, *self.exercise.hidden]:
            text = put_definition(text, self.stub, name)
        return text

    def _is_blank(self, text: str, name: str) -> bool:
        return body_key(text, name) == body_key(self.stub, name)


def workplaces(root: Path = ROOT) -> list[Workplace]:
    """One for each exercise, in order. Raises SpecError or SourceError when the workbook itself is broken."""
    exercises = load_exercises(root)
    found: list[Workplace] = []
    for exercise in exercises:
        group = tuple(e for e in exercises if e.file == exercise.file)
        pristine = root / exercise.stub_file
        stub = read_text(pristine) if pristine.is_file() else stub_text(root, group)
        found.append(Workplace(exercise, stub, read_text(root / exercise.package_file), group))
    return found


def create_missing(root: Path = ROOT) -> list[str]:
    """Give the student a copy of every stub not there yet. Returns the paths made; never touches one that exists."""
    made: dict[str, None] = {}
    for place in workplaces(root):
        path = root / place.exercise.file
        if not path.exists():
            write_text(path, place.stub)
            made[place.exercise.file] = None
    return list(made)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 with newlines as they are, making the folder when needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def results(root: Path = ROOT) -> dict[str, str]:
    """Exercise id -> the status of its latest grading, from `work/progress.json`."""
    return {key: value for key, value in _progress(root)["results"].items() if type(value) is str}


def record_results(root: Path, statuses: Mapping[str, str], digests: Mapping[str, str] | None = None) -> None:
    """Remember the statuses of a grading, and the digests of the texts that have passed; an empty one is forgotten."""
    progress = _progress(root)
    progress["results"].update(statuses)
    progress["passed"].update(digests or {})
    progress["passed"] = {id_: digest for id_, digest in progress["passed"].items() if digest}
    _save(root, progress)


def passed_digests(root: Path = ROOT) -> dict[str, str]:
    """Exercise id -> the digest of the text that last passed (see Workplace.digest)."""
    return {key: value for key, value in _progress(root)["passed"].items() if type(value) is str}


def first_chapter(root: Path = ROOT) -> int:
    """The chapter that the student chose to begin at; 1 without a choice."""
    chosen = _progress(root)["settings"].get("start_at")
    return chosen if type(chosen) is int and chosen >= 1 else 1


def begin_at(root: Path, chapter: int) -> None:
    """Remember the chapter that the student begins at."""
    progress = _progress(root)
    progress["settings"]["start_at"] = chapter
    _save(root, progress)


def reveal_hint(root: Path, exercise: Exercise) -> tuple[int, str]:
    """The next hint not seen yet, as (number from 1, text), recorded; the last one again when all have been seen."""
    progress = _progress(root)
    seen = progress["hints"].get(exercise.id, 0)
    number = min((seen if type(seen) is int and seen >= 0 else 0) + 1, len(exercise.hints))
    progress["hints"][exercise.id] = number
    _save(root, progress)
    return number, exercise.hints[number - 1]


def _progress(root: Path) -> dict[str, dict[str, object]]:
    """What is recorded; a file that a student has damaged counts as empty."""
    try:
        data = json.loads((root / PROGRESS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        data = {}
    data = data if type(data) is dict else {}
    return {key: data[key] if type(data.get(key)) is dict else {} for key in _SECTIONS}


def _save(root: Path, progress: dict[str, dict[str, object]]) -> None:
    write_text(root / PROGRESS, json.dumps(progress, indent=1, sort_keys=True) + "\n")
