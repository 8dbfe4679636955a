"""One function compiled anew from edited text, as parts that fit into the function object there is."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from ..source import SourceError, definition_span, find, has_docstring, parse, replace_span
from .quote import unquoted

Function = ast.FunctionDef | ast.AsyncFunctionDef


class EditError(ValueError):
    """An edit cannot be applied; nothing was changed. The message is one line for the student."""


@dataclass(frozen=True)
class Parts:
    """What an edit changes in a function object, so that it can be put back."""

    code: CodeType
    defaults: tuple[Any, ...] | None
    kwdefaults: dict[str, Any] | None
    doc: str | None
    annotations: dict[str, Any]

    @classmethod
    def of(cls, function: FunctionType) -> Parts:
        """What the function has now."""
        kwdefaults = function.__kwdefaults__
        return cls(
            function.__code__,
            function.__defaults__,
            None if kwdefaults is None else dict(kwdefaults),
            function.__doc__,
            dict(function.__annotations__),
        )

    def put_into(self, function: FunctionType) -> None:
        """Give the function all of it; whoever holds the function sees it from the next call on."""
        function.__code__ = self.code
        function.__defaults__ = self.defaults
        function.__kwdefaults__ = self.kwdefaults
        function.__doc__ = self.doc
        function.__annotations__ = self.annotations


def recompile(target: str, module: ModuleType, text: str, cell: str, new: Function, function: FunctionType) -> Parts:
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
        owner = owner_of(module, qualname)
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
    return Parts(code, defaults, kwdefaults or None, ast.get_docstring(new, clean=False), _annotations(new))


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


def owner_of(module: ModuleType, qualname: str) -> Any:
    """The class, or the module, in which a qualname is defined."""
    return functools.reduce(getattr, qualname.split(".")[:-1], module)
