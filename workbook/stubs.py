"""Stubs: the package's own modules with the bodies that exercises ask for cut out, everything else to the byte."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from .source import SourceError, Span, body_span, lines_of, replace_span
from .spec import Exercise, load_exercises
from .tree import ROOT


def cut(text: str, bodies: Mapping[str, str], hidden: Mapping[str, str] | None = None) -> str:
    """The text with bodies replaced by `raise NotImplementedError("exercise 05.1: …")`.

    `bodies` and `hidden` map a qualname to the id of the exercise that asks for it, or that it would give away.
    Raises SourceError when a function is missing or one body lies in another.
    """
    helpers = {name: id_ for name, id_ in (hidden or {}).items() if name not in bodies}
    spans = {name: body_span(text, name) for name in [*bodies, *helpers]}
    ordered = sorted(spans.items(), key=lambda item: (item[1].start, item[1].end))
    for (outer, before), (inner, after) in pairwise(ordered):
        if after.start < before.end:
            raise SourceError(f"the bodies of {outer} and {inner} overlap")
    for name, span in reversed(ordered):
        what = f"write the body of {name}" if name in bodies else f"helper {name}: not asked for, given when graded"
        message = f'raise NotImplementedError("exercise {bodies.get(name) or helpers[name]}: {what}")'
        text = replace_span(text, span, [_indent(text, span) + message])
    return text


def stub_text(root: Path, exercises: Iterable[Exercise]) -> str:
    """The stub of one module, cut for all the given exercises of it. Reads the package's file."""
    group = list(exercises)
    text = read_text(root / group[0].package_file)
    bodies = {name: exercise.id for exercise in group for name in exercise.bodies}
    hidden = {name: exercise.id for exercise in group for name in exercise.hidden}
    return cut(text, bodies, hidden)


def stub_files(root: Path = ROOT) -> dict[str, str]:
    """Every stub of the workbook: path relative to the root -> text."""
    groups: dict[str, list[Exercise]] = {}
    for exercise in load_exercises(root):
        groups.setdefault(exercise.stub_file, []).append(exercise)
    return {path: stub_text(root, group) for path, group in groups.items()}


def read_text(path: Path) -> str:
    """A UTF-8 source file with line ends as newlines, without a byte-order mark."""
    return path.read_text(encoding="utf-8-sig")


def _indent(text: str, span: Span) -> str:
    """The indentation of the first statement in a body."""
    for line in lines_of(text)[span.start : span.end]:
        if line.strip() and not line.lstrip().startswith("#"):
            return line[: len(line) - len(line.lstrip())]
    raise SourceError("there is no statement to cut")
