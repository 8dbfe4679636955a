"""Find where a student's file gives a name that an exercise asks for another meaning further down."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..source import Definition, SourceError, parse

_BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.ExceptHandler, ast.Match, ast.match_case)


def rebinds(text: str, reference: str, file: str, names: Sequence[str]) -> list[str]:
    """A sentence for each of `names` that is defined or assigned more often than in the reference.

    As anywhere in Python the last one counts, and so it is graded; but a student who edits the first looks in vain.
    """
    notes: list[str] = []
    for name in names:
        definitions, assigned = _bindings(text, name)
        there = _bindings(reference, name)
        if len(definitions) > len(there[0]):
            notes.append(f"{file} defines {name} {len(definitions)} times: the last one counts")
        if len(assigned) > len(there[1]):
            notes.append(f"line {assigned[-1]} of {file} gives {name} a new value: that counts, not the body above it")
    return notes


def _bindings(text: str, name: str) -> tuple[list[int], list[int]]:
    """The lines that define a qualname, and those that assign to it."""
    try:
        tree = parse(text)
    except SourceError:
        return [], []
    owner, _, last = name.rpartition(".")
    holders = list(_classes(tree, owner)) if owner else [tree]
    definitions: list[int] = []
    assigned = [node.lineno for node in _statements(tree) for target in _targets(node) if _told(target) == name]
    for holder in holders:
        for node in _statements(holder):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == last:
                definitions.append(node.lineno)
            if owner:
                assigned += [node.lineno for target in _targets(node) if _told(target) == last]
    return definitions, sorted(assigned)


def _classes(tree: ast.Module, name: str) -> Iterator[Definition]:
    inside: list[ast.Module | ast.ClassDef] = [tree]
    for part in name.split("."):
        inside = [n for holder in inside for n in _statements(holder) if isinstance(n, ast.ClassDef) and n.name == part]
    yield from (holder for holder in inside if isinstance(holder, ast.ClassDef))


def _statements(holder: ast.AST) -> Iterator[ast.stmt]:
    """The statements that run with the module or class body, also those under an `if` or `try`."""
    for node in ast.iter_child_nodes(holder):
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, _BLOCKS):
            yield from _statements(node)


def _targets(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, (ast.AnnAssign, ast.AugAssign)) else []


def _told(target: ast.expr) -> str:
    """`name` or `name.attribute.attribute`; empty for any other target."""
    parts: list[str] = []
    while isinstance(target, ast.Attribute):
        parts.append(target.attr)
        target = target.value
    return ".".join([target.id, *reversed(parts)]) if isinstance(target, ast.Name) else ""
