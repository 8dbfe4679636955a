"""What a pass depended on: digests by which it shows later that the checks, the stub or earlier code have changed."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .source import has_docstring, parse
from .spec import Exercise
from .student import Workplace
from .tree import module_files, package_modules


@dataclass(frozen=True)
class Basis:
    """What one exercise is graded with. checks, stub, package: digests of code, not of comments and docstrings.

    own: exercise id -> digest of the student's earlier work that it stood on.
    """

    checks: str
    stub: str
    package: str
    own: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the progress file."""
        return {"checks": self.checks, "stub": self.stub, "package": self.package, "own": dict(self.own)}

    def changed_since(self, then: object, now: Mapping[str, str], label: Callable[[str], str]) -> str:
        """What has changed since `then`, an earlier as_dict(), in words; empty for nothing.

        now: exercise id -> digest of the student's work as it is. label: how an exercise is called.
        """
        if type(then) is not dict or type(then.get("own")) is not dict:
            return "it was graded by an earlier version of the judge"
        words = (("checks", "its checks have changed"), ("stub", "its stub has changed"))
        for name, said in words:
            if then.get(name) != getattr(self, name):
                return said
        for id_, digest in then["own"].items():
            if now.get(id_) != digest:
                return f"your {label(id_)} has changed"
        return "earlier modules of the package have changed" if then.get("package") != self.package else ""


class Stamps:
    """Digests of a workbook as it is now. Each is worked out once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._package: list[tuple[int, str, str]] | None = None

    def basis(self, place: Workplace) -> Basis:
        """What the exercise is graded with now, on nothing of the student's own."""
        return Basis(self.checks(place.exercise), _hash([code(place.stub)]), self.package(place.exercise))

    def checks(self, exercise: Exercise) -> str:
        """The checks and probes of an exercise, with what they share; checks of other exercises do not count."""
        mine = {function_name(check) for check in exercise.checks}
        folder = self.root / exercise.folder
        files = [p for p in sorted(folder.rglob("*.py")) if p.relative_to(folder).parts[0] not in ("stub", "variants")]
        return _hash([*exercise.checks, *(code(path.read_text(encoding="utf-8"), mine) for path in files)])

    def package(self, exercise: Exercise) -> str:
        """The package's modules up to the exercise's chapter, but for its own."""
        if self._package is None:
            chapters, files = package_modules(self.root), module_files(self.root)
            self._package = [(n, name, code(files[name].read_text(encoding="utf-8"))) for name, n in chapters.items()]
        return _hash([text for n, name, text in self._package if n <= exercise.chapter and name != exercise.module])


def function_name(check: str) -> str:
    """The function of a check: `check_<name>` with an underscore for whatever is no letter or digit."""
    return "check_" + re.sub(r"\W+", "_", check)


def code(text: str, checks: set[str] | None = None) -> str:
    """What a text does: its syntax tree without docstrings; of functions called check_..., only those named.

    Raises SourceError.
    """
    tree = parse(text)
    if checks is not None:
        tree.body = [
            node
            for node in tree.body
            if not (isinstance(node, ast.FunctionDef) and node.name.startswith("check_") and node.name not in checks)
        ]
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and has_docstring(node):
            node.body = node.body[1:]
    return ast.dump(tree)


def _hash(texts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", errors="surrogatepass")).hexdigest()[:32]
