"""What a student has written: the files in `work/`, and what in them is still blank."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from .source import SourceError, body_key, has_definition, is_placeholder, parse, put_definition
from .spec import Exercise, load_exercises
from .stubs import read_text, stub_text
from .tree import ROOT


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
            return any(not self.is_blank(text, name) for name in self.exercise.bodies)
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
        return [n for n in names if has_definition(text, n) and (n in others or self.is_blank(text, n))]

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
        helpers = [n for n in self.exercise.hidden if not has_definition(text, n) or self.is_blank(text, n)]
        for name in [*self.exercise.bodies, *helpers]:
            text = put_definition(text, self.reference, name)
        return text

    def restored(self, text: str) -> str:
        """The student's text with this exercise's definitions as in the stub; everything else stays."""
        for name in [*self.exercise.bodies, *self.exercise.hidden]:
            text = put_definition(text, self.stub, name)
        return text

    def is_blank(self, text: str, name: str) -> bool:
        """Whether a body is the stub's, or that of an earlier stub. Raises SourceError when it is not defined."""
        return body_key(text, name) == body_key(self.stub, name) or is_placeholder(text, name)


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
            write_text(root / base_file(place.exercise), place.stub)
            made[place.exercise.file] = None
    return list(made)


def base_file(exercise: Exercise) -> str:
    """The stub that the student's file began as, relative to the root: what a newer one is compared with."""
    return f"work/.stubs/{exercise.file.removeprefix('work/exercises/')}"


def spare_copy(path: Path) -> Path:
    """A name beside `path` that is not taken: `x.py.bak`, `x.py.bak2`, ..."""
    number = 1
    while (copy := path.with_name(f"{path.name}.bak{number if number > 1 else ''}")).exists():
        number += 1
    return copy


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 with newlines as they are, making the folder when needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
