"""In the graded process: puts the student's files in the place of the package's modules."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from ..source import find, has_docstring
from .job import Job, Part

PROBES = "exercise_probes"
"""Name under which the probes are imported."""


class TextLoader(importlib.abc.Loader):
    """Runs a syntax tree as a module; its code carries the path `shown`."""

    def __init__(self, tree: ast.Module, text: str, shown: str) -> None:
        self.tree, self.text, self.shown = tree, text, shown

    def exec_module(self, module: ModuleType) -> None:
        """Run the text in the new module. Errors of the text come through with its own line numbers."""
        # Without a time stamp linecache never looks for the file, which lies relative to another folder.
        linecache.cache[self.shown] = (len(self.text), None, self.text.splitlines(keepends=True), self.shown)
        exec(compile(self.tree, self.shown, "exec", dont_inherit=True), module.__dict__)


class StudentFinder(importlib.abc.MetaPathFinder):
    """Answers for the modules that the student wrote and for the probes. Everything else is found as usual."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.parts: dict[str, Part] = {part.module: part for part in job.parts}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of a module that the job holds, else None."""
        job = self.job
        if part := self.parts.get(fullname):
            tree = graft(ast.parse(part.text), ast.parse(part.donor), part.borrowed)
            loader, origin = TextLoader(tree, part.text, part.shown), Path(job.root, *part.module.split("."))
            return self._spec(fullname, loader, str(origin.with_suffix(".py")))
        if fullname == PROBES:
            loader = TextLoader(ast.parse(job.probes, job.probes_file), job.probes, job.probes_file)
            return self._spec(fullname, loader, str(Path(job.root, job.probes_file)))
        return None

    def _spec(self, fullname: str, loader: TextLoader, origin: str) -> importlib.machinery.ModuleSpec:
        spec = importlib.machinery.ModuleSpec(fullname, loader, origin=origin)
        spec.has_location = True
        spec.cached = None
        return spec


def graft(tree: ast.Module, donor: ast.Module, names: Sequence[str]) -> ast.Module:
    """`tree` with the bodies and signatures of `names` taken from `donor`; the rest keeps its line numbers."""
    for name in names:
        mine, theirs = find(tree, name), find(donor, name)
        if isinstance(mine, ast.ClassDef) or isinstance(theirs, ast.ClassDef):
            raise ValueError(f"{name} is a class")
        docstring = mine.body[:1] if has_docstring(mine) else []
        body = theirs.body[1:] if has_docstring(theirs) else theirs.body
        for node in (n for part in [theirs.args, *body] for n in ast.walk(part) if hasattr(n, "lineno")):
            ast.copy_location(node, mine)
        mine.body, mine.args = [*docstring, *body], theirs.args
    return tree


def install(job: Job) -> None:
    """Make this process see the job's texts, and the package up to the job's chapter. Twice is as good as once."""
    if any(isinstance(finder, StudentFinder) for finder in sys.meta_path):
        return
    if job.root not in sys.path:
        sys.path.insert(0, job.root)
    if job.chapter:
        from ..tree import limit_to

        limit_to(job.chapter)
    sys.meta_path.insert(0, StudentFinder(job))
