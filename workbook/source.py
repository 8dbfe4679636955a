"""Find and replace whole definitions and their bodies in Python source text, without importing it.

A qualname is `function`, `Class.method` or `Class.Inner.method`. All spans count lines from 0 and are half open.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# Two threads that convert trees at once can upset CPython's count of how deep it is.
_PARSING = threading.Lock()


class SourceError(ValueError):
    """A text does not parse, or does not hold what was looked for; the message names it."""


@dataclass(frozen=True)
class Span:
    """Lines `start` .. `end - 1` of a text, counted from 0."""

    start: int
    end: int


def parse(text: str) -> ast.Module:
    """The syntax tree. Raises SourceError with the line, whatever the parser raised (it may also run out of depth)."""
    try:
        with _PARSING:
            return ast.parse(text)
    except SyntaxError as error:
        raise SourceError(f"line {error.lineno or '?'}: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise SourceError(f"cannot be parsed: {error or type(error).__name__}") from error


def compiled(tree: ast.Module, shown: str) -> CodeType:
    """The code of a module; its tracebacks name the file `shown`. Raises SourceError."""
    try:
        with _PARSING:
            code: CodeType = compile(tree, shown, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise SourceError(f"line {error.lineno or '?'}: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise SourceError(f"cannot be compiled: {error or type(error).__name__}") from error
    return code


def find(tree: ast.Module | Definition, qualname: str) -> Definition:
    """The definition; the last one where a name is defined twice, as at run time. Raises SourceError."""
    node: ast.Module | Definition = tree
    for name in qualname.split("."):
        inside = [d for d in node.body if isinstance(d, _DEFINITIONS) and d.name == name]
        if not inside:
            raise SourceError(f"{qualname} is not defined here")
        node = inside[-1]
    assert isinstance(node, _DEFINITIONS)
    return node


def has_definition(text: str, qualname: str) -> bool:
    """Whether the text defines it. Raises SourceError when the text does not parse."""
    tree = parse(text)
    try:
        find(tree, qualname)
    except SourceError:
        return False
    return True


def definition_span(text: str, qualname: str) -> Span:
    """The lines of a whole definition, with its decorators."""
    node = find(parse(text), qualname)
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return Span(first - 1, _end(node))


def definition_source(text: str, qualname: str) -> str:
    """The lines of a whole definition as they stand, indentation included, ending in a newline."""
    span = definition_span(text, qualname)
    return "\n".join(lines_of(text)[span.start : span.end]) + "\n"


def body_span(text: str, qualname: str) -> Span:
    """The lines of a function's body after its docstring, comments around them included.

    Empty, after the docstring, when there is nothing else. Raises SourceError for a body on the line of its `def`.
    """
    node, lines = find(parse(text), qualname), lines_of(text)
    statements = node.body[1:] if has_docstring(node) else node.body
    if not statements:
        return Span(_end(node), _end(node))
    first = min(statements[0].lineno, *(d.lineno for d in getattr(statements[0], "decorator_list", [])), 10**9)
    before = _end(node.body[0]) if has_docstring(node) else node.lineno
    if first <= before:
        raise SourceError(f"the body of {qualname} starts on a line that also holds something else")
    start = first - 1
    while start > before and _is_blank_or_comment(lines[start - 1]):
        start -= 1
    end, indent = _end(statements[-1]), statements[0].col_offset
    for number in range(end, len(lines)):
        line = lines[number]
        if line.strip() and not (_is_blank_or_comment(line) and len(line) - len(line.lstrip()) >= indent):
            break
        if line.strip():
            end = number + 1
    return Span(start, end)


def replace_span(text: str, span: Span, new_lines: Sequence[str]) -> str:
    """The text with the lines of `span` replaced."""
    lines = lines_of(text)
    return "\n".join([*lines[: span.start], *new_lines, *lines[span.end :]]) + ("\n" if text.endswith("\n") else "")


def lines_of(text: str) -> list[str]:
    """The lines without their ends. Only a newline ends a line here: a form feed does not, as in the parser."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def has_docstring(node: Definition | ast.Module) -> bool:
    """Whether the first statement is a string."""
    first = node.body[0] if node.body else None
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)


def body_key(text: str, qualname: str) -> str:
    """Equal for two functions whose bodies do the same: comments, layout and the docstring do not count."""
    node = find(parse(text), qualname)
    statements = node.body[1:] if has_docstring(node) else node.body
    try:
        return "\n".join(ast.dump(statement) for statement in statements)
    except RecursionError:  # `1 + 1 + ...` a thousand times over: no tree to walk, but a text
        return "\n".join(ast.get_source_segment(text, statement) or "" for statement in statements)


def is_placeholder(text: str, qualname: str) -> bool:
    """Whether a body is what stubs have: one `raise NotImplementedError("exercise ...")`, and at most a docstring."""
    node = find(parse(text), qualname)
    statements = node.body[1:] if has_docstring(node) else node.body
    match statements:
        case [ast.Raise(exc=ast.Call(func=ast.Name(id="NotImplementedError"), args=[ast.Constant(value=str(said))]))]:
            return said.startswith("exercise ")
    return False


def put_definition(text: str, donor: str, qualname: str) -> str:
    """The text with its definition of `qualname` replaced by the donor's; added to its class or module when missing.

    Raises SourceError when either text does not parse, or the class that should hold a new method is missing.
    """
    new = lines_of(definition_source(donor, qualname))
    if has_definition(text, qualname):
        return replace_span(text, definition_span(text, qualname), new)
    owner = qualname.rpartition(".")[0]
    if owner:
        end = definition_span(text, owner).end
        return replace_span(text, Span(end, end), ["", *new])
    return text.rstrip("\n") + "\n\n\n" + "\n".join(new) + "\n"


def _end(node: ast.AST) -> int:
    return int(getattr(node, "end_lineno", 0))


def _is_blank_or_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")
