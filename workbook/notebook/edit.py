"""Editing functions of the package in a running kernel: what `%%edit` and `%reset_edits` do."""

from __future__ import annotations

import ast
import functools
import importlib
import linecache
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from ..source import SourceError, definition_span, find, has_docstring, parse, replace_span
from .quote import quoted, unquoted

Function = ast.FunctionDef | ast.AsyncFunctionDef


class EditError(ValueError):
    """An edit cannot be applied; nothing was changed. The message is one line for the student."""


@dataclass(frozen=True)
class _Parts:
    """What an edit changes in a function object, so that it can be put back."""

    code: CodeType
    defaults: tuple[Any, ...] | None
    kwdefaults: dict[str, Any] | None
    doc: str | None
    annotations: dict[str, Any]

    @classmethod
    def of(cls, function: FunctionType) -> _Parts:
        kwdefaults = function.__kwdefaults__
        return cls(
            function.__code__,
            function.__defaults__,
            None if kwdefaults is None else dict(kwdefaults),
            function.__doc__,
            dict(function.__annotations__),
        )

    def put_into(self, function: FunctionType) -> None:
        function.__code__ = self.code
        function.__defaults__ = self.defaults
        function.__kwdefaults__ = self.kwdefaults
        function.__doc__ = self.doc
        function.__annotations__ = self.annotations


class Editor:
    """The edits of one kernel.

    A function object is changed in place, never replaced. So everybody who holds it sees the edit: names imported
    elsewhere, bound methods, properties, subclasses that call `super()`.
    """

    def __init__(self) -> None:
        self._originals: dict[str, tuple[FunctionType, _Parts]] = {}

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
        parts = _compile(target, module, text, cell, new, function)
        self._originals.setdefault(target, (function, _Parts.of(function)))
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
        owner, name = _owner(module, qualname), qualname.rpartition(".")[2]
        found = vars(owner).get(name)
        inside = [
            f for f in _functions(found) if f.__code__.co_qualname == qualname and f.__module__ == module.__name__
        ]
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


def _owner(module: ModuleType, qualname: str) -> Any:
    return functools.reduce(getattr, qualname.split(".")[:-1], module)


def _functions(found: Any) -> Iterator[FunctionType]:
    """The functions in what a class or module holds under a name: itself, or what its decorators wrap."""
    if isinstance(found, FunctionType):
        yield found
    for name in ("fget", "fset", "fdel", "__func__", "func", "__wrapped__"):
        inner = getattr(found, name, None)
        if inner is not None and inner is not found:
            yield from _functions(inner)


def _compile(target: str, module: ModuleType, text: str, cell: str, new: Function, function: FunctionType) -> _Parts:
    """The edited function's parts, compiled as a part of its module so that names and line numbers fit."""
    qualname = target.strip().partition(":")[2]
    edited = replace_span(text, definition_span(text, qualname), unquoted(text, qualname, cell))
    file = f"<edited {module.__name__}:{qualname}>"
    try:
        tree = parse(edited)
        node = find(tree, qualname)
        assert isinstance(node, Function)
        if "__class__" in function.__code__.co_freevars:
            _close_over_class(node)
        code = _code_named(compile(tree, file, "exec", dont_inherit=True), qualname, node)
        owner = _owner(module, qualname)
        names = dict(vars(owner)) if isinstance(owner, type) else {}
        values = _Defaults(module, names)
        defaults = tuple(values.of(d) for d in new.args.defaults) or None
        kwdefaults = {
            a.arg: values.of(d) for a, d in zip(new.args.kwonlyargs, new.args.kw_defaults, strict=True) if d is not None
        }
    except (SyntaxError, SourceError) as error:
        raise EditError(f"{qualname}: {error}; nothing was changed") from error
    if len(code.co_freevars) > len(function.__code__.co_freevars):
        made = FunctionType(code, vars(module), new.name, None, (CellType(owner),))
        made.__qualname__, made.__defaults__ = qualname, defaults
        made.__kwdefaults__ = kwdefaults
        code, defaults, kwdefaults = _forward_to(made), None, {}
    linecache.cache[file] = (len(edited), None, edited.splitlines(keepends=True), file)
    return _Parts(code, defaults, kwdefaults or None, ast.get_docstring(new, clean=False), _annotations(new))


@dataclass(frozen=True)
class _Defaults:
    """Evaluates default values where the function is defined."""

    module: ModuleType
    names: dict[str, Any]

    def of(self, node: ast.expr) -> Any:
        code = compile(ast.Expression(node), "<default>", "eval", dont_inherit=True)
        try:
            return eval(code, vars(self.module), self.names)
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise EditError(f"the default {ast.unparse(node)} raised {what}; nothing was changed") from error


def _close_over_class(node: Function) -> None:
    """Let the function refer to `__class__`, as the one whose place it takes does: their cells must be as many."""
    position = 1 if has_docstring(node) else 0
    mark = ast.Expr(ast.Name("__class__", ast.Load()))
    after = node.body[min(position, len(node.body) - 1)]
    node.body.insert(position, ast.fix_missing_locations(ast.copy_location(mark, after)))


def _code_named(code: CodeType, qualname: str, node: Function) -> CodeType:
    line = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    for inner in _codes(code):
        if inner.co_qualname == qualname and inner.co_firstlineno == line:
            return inner
    raise EditError(f"{qualname}: not found after compiling; nothing was changed")


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _forward_to(function: Callable[..., Any]) -> CodeType:
    """Code without free variables that calls a function which has one: a code object may hold any constant."""

    def forward(*args: Any, **kwargs: Any) -> Any:
        target: Any = "the function"
        return target(*args, **kwargs)

    code = forward.__code__
    constants: tuple[Any, ...] = tuple(function if c == "the function" else c for c in code.co_consts)
    return code.replace(co_consts=constants)


def _annotations(node: Function) -> dict[str, Any]:
    """Annotations as text, which is what `from __future__ import annotations` makes of them."""
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
    found = {a.arg: ast.unparse(a.annotation) for a in given if a is not None and a.annotation is not None}
    return {**found, **({"return": ast.unparse(node.returns)} if node.returns else {})}
