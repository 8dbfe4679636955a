"""What an exercise is: `exercises/chNN_topic/spec.toml`, read and checked."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .tree import ROOT


class SpecError(ValueError):
    """A spec.toml is wrong; the message names the file and the field."""


@dataclass(frozen=True)
class Exercise:
    """One exercise: the bodies that a student writes in one module, and how they are graded.

    bodies: qualnames of the functions whose bodies are asked for. hidden: qualnames of helpers that would give them
    away; they are blank in the stub too, and taken from the package when graded while they stay blank.
    minutes, lines: what it takes. section: the notebook heading to re-read. hints: three, from a nudge to a plan.
    checks: names of the checks, in the order in which they run. seconds, memory_mb: limits of the graded process.
    """

    id: str
    title: str
    chapter: int
    topic: str
    module: str
    bodies: tuple[str, ...]
    hidden: tuple[str, ...]
    difficulty: int
    importance: int
    minutes: int
    lines: int
    section: str
    hints: tuple[str, ...]
    checks: tuple[str, ...]
    seconds: int = 60
    memory_mb: int = 4096

    @property
    def folder(self) -> str:
        """`exercises/chNN_topic`, relative to the repository root."""
        return f"exercises/ch{self.chapter:02d}_{self.topic}"

    @property
    def package_file(self) -> str:
        """The module's own file, relative to the root."""
        return self.module.replace(".", "/") + ".py"

    @property
    def package_path(self) -> str:
        """The module's file inside its package, e.g. `scheduler/prefill.py`."""
        return self.package_file.partition("/")[2]

    @property
    def stub_file(self) -> str:
        """The pristine stub, relative to the root."""
        return f"{self.folder}/stub/{self.package_path}"

    @property
    def file(self) -> str:
        """The file in which the student writes, relative to the root."""
        return f"work/{self.folder}/{self.package_path}"

    @property
    def task_file(self) -> str:
        """The task text, relative to the root."""
        return f"{self.folder}/{self.id}.md"

    @property
    def variants_folder(self) -> str:
        """Where the wrong and right variants are, relative to the root."""
        return f"{self.folder}/variants/{self.id}"


_TEXTS = ("id", "title", "module", "section")
_NUMBERS = ("difficulty", "importance", "minutes", "lines", "seconds", "memory_mb")
_LISTS = ("bodies", "hidden", "hints", "checks")
_OPTIONAL = ("hidden", "seconds", "memory_mb")


def load_exercises(root: Path = ROOT) -> list[Exercise]:
    """Every exercise of the workbook, in order of chapter and number. Raises SpecError."""
    found: list[Exercise] = []
    for folder in sorted((root / "exercises").glob("ch[0-9][0-9]_*")):
        path = folder / "spec.toml"
        name = path.relative_to(root).as_posix()
        if path.is_file():
            found += _read_spec(path, name)
        elif (folder / "probes.py").exists():  # else it is nothing but what another branch has left
            raise SpecError(f"{name} is missing")
    ids = [exercise.id for exercise in found]
    for id_ in ids:
        if ids.count(id_) > 1:
            raise SpecError(f"exercise {id_} is specified twice")
    return sorted(found, key=lambda exercise: (exercise.chapter, int(exercise.id.split(".")[1])))


def _read_spec(path: Path, name: str) -> list[Exercise]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"{name}: {error}") from error
    chapter, topic = data.get("chapter"), data.get("topic")
    if type(chapter) is not int or type(topic) is not str or path.parent.name != f"ch{chapter:02d}_{topic}":
        raise SpecError(f"{name}: chapter {chapter!r} and topic {topic!r} do not name the folder {path.parent.name}")
    entries = data.get("exercise")
    if type(entries) is not list or not entries:
        raise SpecError(f"{name}: no [[exercise]]")
    return [_read_exercise(entry, chapter, topic, name) for entry in entries]


def _read_exercise(entry: dict[str, Any], chapter: int, topic: str, name: str) -> Exercise:
    where = f"{name}: exercise {entry.get('id')!r}"
    known = {*_TEXTS, *_NUMBERS, *_LISTS}
    if unknown := sorted(entry.keys() - known):
        raise SpecError(f"{where}: unknown field {unknown[0]}")
    if missing := sorted(known - entry.keys() - set(_OPTIONAL)):
        raise SpecError(f"{where}: missing field {missing[0]}")
    for field, value in entry.items():
        if not _fits(field, value):
            wanted = "a text" if field in _TEXTS else "an integer" if field in _NUMBERS else "a list of texts"
            raise SpecError(f"{where}: {field} = {value!r} is not {wanted}")
    if not re.fullmatch(rf"{chapter:02d}\.[1-9]", entry["id"]):
        raise SpecError(f"{where}: the id must be {chapter:02d}.1 to {chapter:02d}.9")
    for field in ("bodies", "hints", "checks"):
        if not entry[field]:
            raise SpecError(f"{where}: {field} is empty")
    for field in ("difficulty", "importance"):
        if not 1 <= entry[field] <= 5:
            raise SpecError(f"{where}: {field} = {entry[field]} is not from 1 to 5")
    fields: dict[str, Any] = {key: tuple(value) if type(value) is list else value for key, value in entry.items()}
    return Exercise(chapter=chapter, topic=topic, **{"hidden": (), **fields})


def _fits(field: str, value: object) -> bool:
    if field in _LISTS:
        return isinstance(value, list) and all(type(item) is str for item in value)
    return type(value) is (str if field in _TEXTS else int)
