"""A function of the package as the text of a notebook cell, and back."""

from __future__ import annotations

import io
import re
import textwrap
import tokenize

from ..source import definition_source, definition_span, lines_of

_FOR_TOOLS = re.compile(r"#\s*(type:\s*ignore|noqa|fmt:)")


def quoted(text: str, qualname: str) -> str:
    """The source of a definition as a cell shows it: moved to the left margin where no line stands in the way.

    Without the comments that only tell a linter or a type checker something.
    """
    return textwrap.dedent(_for_readers(definition_source(text, qualname))).rstrip("\n") + "\n"


def unquoted(text: str, qualname: str, cell: str) -> list[str]:
    """The lines of a cell, indented as the definition of `qualname` in `text` is. Raises SourceError without one."""
    first = lines_of(text)[definition_span(text, qualname).start]
    indent = first[: len(first) - len(first.lstrip())]
    lines = lines_of(cell.rstrip() + "\n")
    if not quoted(text, qualname).startswith(_for_readers(first)):  # it was moved
        lines = [indent + line if line.strip() else "" for line in lines]
    return lines


def _for_readers(source: str) -> str:
    """The same lines without the comments for tools; a text that ends in the middle of something is read so far."""
    lines = source.split("\n")
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT and _FOR_TOOLS.match(token.string):
                row, column = token.start
                lines[row - 1] = lines[row - 1][:column].rstrip()
    except (tokenize.TokenError, IndentationError):
        pass
    return "\n".join(lines)
