"""Which modules a graded process gets from the student, and which bodies in them are the reference's."""

from __future__ import annotations

import ast
import base64
import marshal
from collections.abc import Sequence
from dataclasses import dataclass

from ..source import compiled, find, has_docstring, parse
from ..spec import Exercise
from ..student import Workplace
from .job import Part


@dataclass(frozen=True)
class Piece:
    """An exercise that the student has passed, and the text of the student's file, which has not changed since."""

    place: Workplace
    text: str

    @property
    def exercise(self) -> Exercise:
        """The exercise."""
        return self.place.exercise


def parts_of(place: Workplace, text: str, shown: str, own: Sequence[Piece] = ()) -> list[Part]:
    """The module of an exercise, then those of `own`: in them, bodies of no given exercise are the reference's.

    shown: the path of `text` in tracebacks. Pieces of the exercise's own file add bodies to it, and no module.
    """
    by_file: dict[str, list[Piece]] = {}
    for piece in own:
        by_file.setdefault(piece.exercise.file, []).append(piece)
    beside = [piece.exercise for piece in by_file.pop(place.exercise.file, [])]
    parts = [_part(place, text, shown, beside)]
    for file, pieces in by_file.items():
        parts.append(_part(pieces[0].place, pieces[0].text, file, [piece.exercise for piece in pieces[1:]]))
    return parts


def borrowed(place: Workplace, text: str, beside: Sequence[Exercise] = ()) -> list[str]:
    """Qualnames that the text gets from the reference; the reference itself needs none."""
    return place.borrowed(text, beside) if text != place.reference else []


def graft(tree: ast.Module, donor: ast.Module, names: Sequence[str]) -> ast.Module:
    """`tree` with the bodies and signatures of `names` taken from `donor`; the rest keeps its line numbers."""
    for name in names:
        mine, theirs = find(tree, name), find(donor, name)
        if isinstance(mine, ast.ClassDef) or isinstance(theirs, ast.ClassDef):
            raise ValueError(f"{name} is a class")
        docstring = mine.body[:1] if has_docstring(mine) else []
        body = theirs.body[1:] if has_docstring(theirs) else theirs.body
        for node in (n for part in [theirs.args, *body] for n in ast.walk(part) if hasattr(n, "lineno")):
            ast.copy_location(node, mine)
        mine.body, mine.args = [*docstring, *body], theirs.args
    return tree


def _part(place: Workplace, text: str, shown: str, beside: Sequence[Exercise]) -> Part:
    """Compiled here, not there: the reference's text, with the answer in it, is nothing for the graded process."""
    code, fault = "", ""
    try:
        tree: ast.Module = graft(parse(text), parse(place.reference), borrowed(place, text, beside))
        code = base64.b64encode(marshal.dumps(compiled(tree, shown))).decode("ascii")
    except ValueError as error:
        fault = str(error)
    return Part(place.exercise.module, shown, text, code, fault)
