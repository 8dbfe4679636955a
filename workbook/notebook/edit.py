"""Editing functions of the package in a running kernel: what `%%edit` and `%reset_edits` do."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from ..source import SourceError, definition_span, find, parse
from .quote import quoted
from .recompile import EditError, Function, Parts, owner_of, recompile


class Editor:
    """The edits of one kernel.

    A function object is changed in place, never replaced. So everybody who holds it sees the edit: names imported
    elsewhere, bound methods, properties, subclasses that call `super()`.
    """

    def __init__(self) -> None:
        self._originals: dict[str, tuple[FunctionType, Parts]] = {}

    @property
    def edited(self) -> list[str]:
        """The targets that are edited now, in order."""
        return list(self._originals)

    def apply(self, target: str, cell: str) -> str | None:
        """Make the function named by `module:Qualname` do what the cell says.

        Returns None when the cell equals the source and nothing was edited, else a line that says what was done.
        Raises EditError, with nothing changed, for a target that is not there and for a cell that is not one function
        of that name with those decorators.
        """
        module, qualname = _resolve(target)
        text = _source_of(module)
        try:
            same = quoted(text, qualname).rstrip() == cell.rstrip()
            node = find(parse(text), qualname)
        except SourceError as error:
            raise EditError(f"{target}: {error}") from error
        if not isinstance(node, Function):
            raise EditError(f"{target} is not a function or a method")
        if same:
            return f"{qualname}: as in the package again" if self.reset(target) else None
        new = _checked(cell, node, qualname)
        function = self._function(target, module, qualname, definition_span(text, qualname).start + 1)
        parts = recompile(target, module, text, cell, new, function)
        self._originals.setdefault(target, (function, Parts.of(function)))
        parts.put_into(function)
        return f"{qualname}: edited in this notebook only; %reset_edits restores it"

    def reset(self, target: str) -> bool:
        """Restore one function; whether it had been edited."""
        function, parts = self._originals.pop(target, (None, None))
        if function is None or parts is None:
            return False
        parts.put_into(function)
        return True

    def reset_all(self) -> list[str]:
        """Restore everything; the targets that had been edited."""
        return [target for target in self.edited if self.reset(target)]

    def _function(self, target: str, module: ModuleType, qualname: str, line: int) -> FunctionType:
        if target in self._originals:
            return self._originals[target][0]
        owner, name = owner_of(module, qualname), qualname.rpartition(".")[2]
        found = vars(owner).get(name)
        # a static method shows its function under two names
        unique = {id(f): f for f in _functions(found)}.values()
        inside = [f for f in unique if f.__code__.co_qualname == qualname and f.__module__ == module.__name__]
        exact = [f for f in inside if f.__code__.co_firstlineno == line]
        if len(exact or inside) != 1:
            raise EditError(f"{target}: the running function cannot be found; was its file changed? restart the kernel")
        return (exact or inside)[0]


def _resolve(target: str) -> tuple[ModuleType, str]:
    name, _, qualname = target.strip().partition(":")
    if not name or not qualname:
        raise EditError(f"{target!r} is not of the form module:Qualname")
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        raise EditError(f"{target}: {error}") from error
    return module, qualname


def _source_of(module: ModuleType) -> str:
    if not module.__file__:
        raise EditError(f"{module.__name__} has no source file")
    return Path(module.__file__).read_text(encoding="utf-8-sig")


def _checked(cell: str, old: Function, qualname: str) -> Function:
    """The one function that the cell defines. Raises EditError when it is not one that can take the old one's place."""
    try:
        body: list[ast.stmt] = parse(cell).body if cell[:1] not in (" ", "\t") else _indented_body(cell)
    except SourceError as error:
        raise EditError(f"{qualname}: {error}; nothing was changed") from error
    if len(body) != 1 or not isinstance(body[0], Function):
        raise EditError(f"{qualname}: the cell must hold exactly one function and nothing else; nothing was changed")
    if body[0].name != old.name:
        raise EditError(f"{qualname}: the cell defines {body[0].name}, not {old.name}; nothing was changed")
    if [ast.dump(d) for d in body[0].decorator_list] != [ast.dump(d) for d in old.decorator_list]:
        raise EditError(f"{qualname}: its decorators cannot be edited here; nothing was changed")
    return body[0]


def _indented_body(cell: str) -> list[ast.stmt]:
    """What a cell holds that kept its indentation, because a line in a string stood in the way."""
    block = parse(f"if True:\n{cell}").body
    return block[0].body if len(block) == 1 and isinstance(block[0], ast.If) else []


def _functions(found: Any) -> Iterator[FunctionType]:
    """The functions in what a class or module holds under a name: itself, or what its decorators wrap."""
    if isinstance(found, FunctionType):
        yield found
    for name in ("fget", "fset", "fdel", "__func__", "func", "__wrapped__"):
        inner = getattr(found, name, None)
        if inner is not None and inner is not found:
            yield from _functions(inner)
