"""Find what a student's file names though the package's own form of it does not: a teacher may want to look there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..source import SourceError, parse

WATCHED = frozenset(
    (
        *("sys", "os", "gc", "subprocess", "ctypes", "importlib", "inspect", "builtins", "marshal", "signal", "socket"),
        *("multiprocessing", "threading", "workbook", "__main__", "exec", "eval", "compile", "open", "__import__"),
    )
)


def reaches(text: str, reference: str) -> list[str]:
    """Names of WATCHED that a text imports or uses and the reference does not, in order; none of one that does not
    parse.
    """
    try:
        return sorted(set(_names(parse(text))) - set(_names(parse(reference))))
    except (SourceError, RecursionError):
        return []


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        found: list[str] = []
        if isinstance(node, ast.Import):
            found = [alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found = [(node.module or "").partition(".")[0]]
        elif isinstance(node, ast.Name):
            found = [node.id]
        elif isinstance(node, ast.Constant) and node.value == "__main__":
            found = ["__main__"]
        yield from (name for name in found if name in WATCHED)
