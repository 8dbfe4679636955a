"""A teacher's own checks, from a folder outside the repository.

The folder has the form of `exercises/`: `chNN_topic/spec.toml`, `checks.py` (or `checks/ex<k>.py`) and `probes.py`. Its
spec names exercises that exist and the checks that are added to them:

    [[exercise]]
    id = "05.1"
    checks = ["a long queue", "uids from high to low"]
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..spec import Exercise, SpecError
from ..student import Workplace
from .bench import Bench, read_checks, read_probes
from .checkfiles import checks_path

PREFIX = "hidden_"


class HiddenExercise(Exercise):
    """An exercise whose checks and probes lie in a teacher's folder."""

    @property
    def folder(self) -> str:
        """`chNN_topic`, relative to that folder."""
        return f"ch{self.chapter:02d}_{self.topic}"


def load_hidden(
    folder: Path, root: Path, places: Sequence[Workplace], private: tuple[str, ...] = ()
) -> dict[str, Bench]:
    """Exercise id -> a bench with its hidden checks. Raises SpecError naming the file; also when there are none.

    private: see Bench.
    """
    if not folder.is_dir():
        raise SpecError(f"hidden checks: {folder} is not a folder")
    known = {place.exercise.id: place for place in places}
    benches: dict[str, Bench] = {}
    try:
        for path in sorted(folder.glob("ch[0-9][0-9]_*")):
            exercises = _exercises(path, known)
            for exercise in exercises:
                sharing = [e for e in exercises if checks_path(folder, e) == checks_path(folder, exercise)]
                checks, read = read_checks(folder, exercise, sharing, PREFIX)
                probes = read_probes(folder, exercise)
                benches[exercise.id] = Bench(root, known[exercise.id], checks, *probes, private, read)
    except (SpecError, OSError) as error:
        raise SpecError(f"hidden checks in {folder}: {error}") from error
    if not benches:
        raise SpecError(f"hidden checks: {folder} holds no folder chNN_topic with exercises")
    return benches


def _exercises(path: Path, known: Mapping[str, Workplace]) -> list[HiddenExercise]:
    """The exercises that one folder adds checks to. Raises SpecError."""
    name = f"{path.name}/spec.toml"
    if not (path / "spec.toml").is_file():
        raise SpecError(f"{name} is missing")
    try:
        data = tomllib.loads((path / "spec.toml").read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"{name}: {error}") from error
    entries = data.get("exercise")
    if type(entries) is not list or not entries or data.keys() != {"exercise"}:
        raise SpecError(f"{name} must hold [[exercise]] entries with id and checks, and nothing else")
    exercises = [_exercise(entry, path.name, known, name) for entry in entries]
    ids = [exercise.id for exercise in exercises]
    if twice := [id_ for id_ in ids if ids.count(id_) > 1]:
        raise SpecError(f"{name}: exercise {twice[0]} is there twice")
    return exercises


def _exercise(entry: Any, folder: str, known: Mapping[str, Workplace], name: str) -> HiddenExercise:
    if type(entry) is not dict or entry.keys() != {"id", "checks"}:
        raise SpecError(f"{name}: an [[exercise]] has the fields id and checks")
    id_, checks = entry["id"], entry["checks"]
    if id_ not in known:
        raise SpecError(f"{name}: there is no exercise {id_!r}; exercises: {', '.join(known)}")
    if type(checks) is not list or not checks or not all(type(check) is str for check in checks):
        raise SpecError(f"{name}: exercise {id_}: checks = {checks!r} is not a list of texts with at least one")
    public = known[id_].exercise
    if Path(public.folder).name != folder:
        raise SpecError(f"{name}: exercise {id_} belongs into {Path(public.folder).name}")
    fields = {field.name: getattr(public, field.name) for field in dataclasses.fields(public)}
    return HiddenExercise(**{**fields, "checks": tuple(checks)})
