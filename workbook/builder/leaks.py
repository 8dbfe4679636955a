"""What a notebook must not show: the body that an exercise asks for, anywhere but in a fold."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..source import body_span, lines_of
from ..spec import Exercise
from ..stubs import read_text
from .master import BuildError

_LEAST = 15  # characters: shorter lines, such as `return None`, could stand anywhere
_FOLD = re.compile(r"(</?details\b[^>]*>)")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_MARKUP = re.compile(r"<[^<>]*>")
_NUMBERED = re.compile(r"^\s*(?:-+>)?\s*\d+[:|]?\s")  # a line of a traceback or a listing


def bodies(root: Path, exercises: Iterable[Exercise], chapter: int) -> dict[tuple[str, str], set[str]]:
    """(exercise id, qualname) -> the telling lines of each body that is asked for in this or a later chapter."""
    found: dict[tuple[str, str], set[str]] = {}
    for exercise in exercises:
        if exercise.chapter < chapter:
            continue
        text = read_text(root / exercise.package_file)
        for name in (*exercise.bodies, *exercise.hidden):
            span = body_span(text, name)
            lines = {_plain(line) for line in lines_of(text)[span.start : span.end]}
            found[exercise.id, name] = {line for line in lines if len(line) >= _LEAST and line[0] not in "#\"'"}
    return {name: lines for name, lines in found.items() if lines}


def refuse_leaks(notebook: Any, name: str, asked: dict[tuple[str, str], set[str]]) -> None:
    """Raises BuildError when half of a body or more, and two lines if it has them, stand in one cell outside of folds.

    Looked at are text, code, every output (a traceback quotes code, too) and the cell's metadata.
    """
    for number, cell in enumerate(notebook.cells, 1):
        places = {"its text": _unfolded(cell.source) if cell.cell_type == "markdown" else cell.source}
        places["its output"] = "\n".join(_text(output) for output in cell.get("outputs", []))
        places["its metadata"] = _text([cell.metadata, cell.get("attachments", {})])
        for what, text in places.items():
            shown = {_plain(part) for line in text.split("\n") for part in (line, _NUMBERED.sub("", line))}
            for (id_, qualname), lines in asked.items():
                if len(lines & shown) >= min(len(lines), max(2, (len(lines) + 1) // 2)):
                    raise BuildError(f"{name}, cell {number}: {what} shows {qualname}, which exercise {id_} asks for")


def _plain(line: str) -> str:
    """A line of code without indentation, comment and double blanks."""
    return " ".join(line.split("  #")[0].split())


def _unfolded(text: str) -> str:
    depth, kept = 0, []
    for part in _FOLD.split(text):
        depth += part.startswith("<details") - part.startswith("</details")
        kept += [part] if depth == 0 else []
    return "".join(kept)


def _text(value: Any) -> str:
    """All the text in an output, or in metadata, line by line, without colours and markup."""
    if isinstance(value, dict):
        return "\n".join(_text(inner) for inner in value.values())
    if isinstance(value, list | tuple):
        return "\n".join(_text(inner) for inner in value)
    text = _ANSI.sub("", str(value))
    return f"{text}\n{html.unescape(_MARKUP.sub('', text))}"
