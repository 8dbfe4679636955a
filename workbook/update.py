"""Merge a newer stub into a student's file: the student's bodies and additions stay, all else is the stub's."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from .source import (
    Definition,
    SourceError,
    Span,
    body_key,
    body_span,
    find,
    has_definition,
    lines_of,
    parse,
    put_definition,
    replace_span,
)
from .student import Workplace

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass
class Merge:
    """A merged text and what was done for it, in sentences. kept: qualnames whose bodies are the student's."""

    text: str
    kept: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)


def merge(place: Workplace, text: str, base: str | None) -> Merge:
    """The stub of `place` with what the student wrote in `text`. base: the stub that `text` began as, when it is known.

    Without a base, whatever the stub lacks counts as the student's own. Raises SourceError, with one line, when a text
    does not parse, or a body cannot be taken over.
    """
    parse(text)
    merged = Merge(place.stub)
    before = place.stub if base is None else base
    asked = list(dict.fromkeys(name for e in place.neighbours for name in (*e.bodies, *e.hidden)))
    for name in asked:
        if has_definition(text, name) and not place.is_blank(text, name):
            _take_body(merged, text, name, before)
    _take_additions(merged, text, before)
    _name_changes(merged, text, before, asked)
    _verify(merged, text)
    return merged


def _take_body(merged: Merge, text: str, name: str, before: str) -> None:
    """Put a body into the merged text, under the stub's signature."""
    span = body_span(text, name)
    body = lines_of(text)[span.start : span.end]
    merged.text = replace_span(merged.text, body_span(merged.text, name), body)
    merged.kept.append(name)
    new, mine = (_signature(t, name) for t in (merged.text, text))
    if new != mine:
        old = _signature(before, name) if has_definition(before, name) else mine
        which = "the stub's signature, not the one you gave it" if old == new else "a new signature: see that it fits"
        merged.done.append(f"{name} has {which}")


def _take_additions(merged: Merge, text: str, before: str) -> None:
    """Imports, definitions and constants of the student's that the stub does not have."""
    old, tree = parse(before), parse(text)
    known = {ast.dump(node) for node in [*old.body, *parse(merged.text).body]}
    imports = [n for n in tree.body if isinstance(n, _IMPORTS) and ast.dump(n) not in known]
    constants = [n for n in tree.body if isinstance(n, (ast.Assign, ast.AnnAssign)) and not _bound(n) <= _names(old)]
    lines = lines_of(text)
    added = [line for node in [*imports, *constants] for line in lines[node.lineno - 1 : node.end_lineno]]
    if added:
        last = max((n.end_lineno or 0 for n in parse(merged.text).body if isinstance(n, _IMPORTS)), default=0)
        merged.text = replace_span(merged.text, Span(last, last), added)
        merged.done.append(f"kept your {len(imports)} imports and {len(constants)} constants, below the stub's imports")
    for name in _definitions(tree):
        owner = name.rpartition(".")[0]
        if has_definition(before, name) or has_definition(merged.text, name):
            continue
        if owner and not has_definition(before, owner):
            continue  # came with its class
        if owner and not has_definition(merged.text, owner):
            merged.done.append(f"{owner} is no longer in the stub: your {name} is in the backup only")
            continue
        merged.text = put_definition(merged.text, text, name)
        merged.done.append(f"kept your {name}")


def _name_changes(merged: Merge, text: str, before: str, asked: list[str]) -> None:
    """Say what of the student's file is not in the merged one."""
    for name in _definitions(parse(text)):
        if not has_definition(before, name):
            continue
        mine = find(parse(text), name)
        if isinstance(mine, ast.ClassDef):
            continue
        changed = body_key(text, name) != body_key(before, name)
        if changed and not has_definition(merged.text, name):
            merged.done.append(f"{name} is no longer in the stub: yours is in the backup only")
        elif changed and name not in asked:
            merged.done.append(f"{name} is the stub's: no exercise asks for it, and your change is in the backup only")
    known = {ast.dump(node) for node in parse(before).body}
    other = [n for n in parse(text).body if not isinstance(n, (*_DEFINITIONS, *_IMPORTS, ast.Assign, ast.AnnAssign))]
    merged.done += [f"line {n.lineno} is in the backup only" for n in other if ast.dump(n) not in known]


def _verify(merged: Merge, text: str) -> None:
    """Raises SourceError when a body did not survive, as with another indentation than the stub's."""
    for name in merged.kept:
        try:
            same = body_key(merged.text, name) == body_key(text, name)
        except SourceError:
            same = False
        if not same:
            raise SourceError(
                f"the body of {name} cannot be put under the stub's signature: is it indented by 4 spaces?"
            )


def _definitions(tree: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, _DEFINITIONS):
            yield prefix + node.name
            if isinstance(node, ast.ClassDef):
                yield from _definitions(node, f"{prefix}{node.name}.")


def _signature(text: str, name: str) -> str:
    node: Definition = find(parse(text), name)
    return "" if isinstance(node, ast.ClassDef) else ast.dump(node.args)


def _bound(node: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}


def _names(tree: ast.Module) -> set[str]:
    return {name for n in tree.body if isinstance(n, (ast.Assign, ast.AnnAssign)) for name in _bound(n)}
