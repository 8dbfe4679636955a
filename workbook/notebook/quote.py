"""A function of the package as the text of a notebook cell, and back."""

from __future__ import annotations

import textwrap

from ..source import definition_source, definition_span, lines_of


def quoted(text: str, qualname: str) -> str:
    """The source of a definition as a cell shows it: moved to the left margin where no line stands in the way."""
    return textwrap.dedent(definition_source(text, qualname)).rstrip("\n") + "\n"


def unquoted(text: str, qualname: str, cell: str) -> list[str]:
    """The lines of a cell, indented as the definition of `qualname` in `text` is. Raises SourceError without one."""
    first = lines_of(text)[definition_span(text, qualname).start]
    indent = first[: len(first) - len(first.lstrip())]
    lines = lines_of(cell.rstrip() + "\n")
    if not quoted(text, qualname).startswith(first):  # it was moved
        lines = [indent + line if line.strip() else "" for line in lines]
    return lines
