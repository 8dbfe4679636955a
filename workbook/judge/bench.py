"""What grades one exercise: its checks and probes, read and checked before any student code runs."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from ..source import SourceError, parse
from ..spec import Exercise, SpecError, load_exercises
from ..stamps import function_name
from ..stubs import read_text
from ..student import Workplace
from .checkfiles import checks_path, load_checks
from .checklib import Check


@dataclass(frozen=True)
class Bench:
    """What grades one exercise. checks: name -> function, in order. probes: the text of the probes, and their path.

    private: folders that graded code may not read. read: all texts that the checks were loaded from, by module.
    """

    root: Path
    place: Workplace
    checks: Mapping[str, Check]
    probes: str
    probes_file: str
    private: tuple[str, ...] = ()
    read: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Of what was read from the folder of exercises."""
        parts = [*self.checks, self.probes_file, self.probes, *(f"{name}\n{self.read[name]}" for name in self.read)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def load_bench(root: Path, place: Workplace) -> Bench:
    """Read the checks and probes of an exercise. Raises SpecError when one is missing, doubled or left over."""
    exercise = place.exercise
    sharing = [e for e in load_exercises(root) if checks_path(root, e) == checks_path(root, exercise)]
    checks, read = read_checks(root, exercise, sharing)
    return Bench(root, place, checks, *read_probes(root, exercise), read=read)


def read_probes(base: Path, exercise: Exercise) -> tuple[str, str]:
    """The text of the probes of an exercise, and their path below `base`. Raises SpecError."""
    file = f"{exercise.folder}/probes.py"
    if not (base / file).is_file():
        raise SpecError(f"{file} is missing")
    return read_text(base / file), file


def read_checks(
    base: Path, exercise: Exercise, sharing: Iterable[Exercise], prefix: str = ""
) -> tuple[dict[str, Check], Mapping[str, str]]:
    """The check functions of an exercise, and the texts that they are from. sharing: all exercises whose checks lie in
    the same file.

    Every check that is listed must be there, once, and every one that is there must be listed: a check that is lost,
    or hidden behind another of its name, would make wrong answers pass. Raises SpecError.
    """
    file = checks_path(base, exercise)
    module, read = load_checks(base, exercise, prefix)
    functions = _defined(read[module.__name__], file)
    listed = [name for e in sharing for name in _functions(e, file)]
    for name in dict.fromkeys(functions):
        if functions.count(name) > 1:
            raise SpecError(f"{file} defines {name} twice: only the second would run")
        if name not in listed:
            raise SpecError(f"{file}: no exercise lists the check of {name}, so it would never run")
    return {check: _function(module, check, file, exercise.id) for check in exercise.checks}, read


def _functions(exercise: Exercise, file: str) -> list[str]:
    """The functions of an exercise's checks. Raises SpecError when two checks share one."""
    names = [function_name(check) for check in exercise.checks]
    for check, name in zip(exercise.checks, names, strict=True):
        if names.count(name) > 1:
            raise SpecError(f"{file}: the check {check!r} of {exercise.id} is listed twice, or shares {name}")
    return names


def _function(module: ModuleType, check: str, file: str, id_: str) -> Check:
    function = getattr(module, function_name(check), None)
    if not callable(function):
        raise SpecError(f"{file} has no function for the check {check!r} of {id_}")
    checked: Check = function
    return checked


def _defined(text: str, file: str) -> Sequence[str]:
    """The check functions that a file defines itself, as often as it does. Raises SpecError."""
    try:
        tree = parse(text)
    except SourceError as error:
        raise SpecError(f"{file}: {error}") from error
    return [n.name for n in tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("check_")]
