"""In the graded process: puts the student's files in the place of the package's modules."""

from __future__ import annotations

import base64
import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import marshal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType

from ..tree import limit_to
from .job import Job, Part

PROBES = "exercise_probes"
"""Name under which the probes are imported."""


class TextLoader(importlib.abc.Loader):
    """Runs compiled code as a module; the code carries the path `shown`, where `text` is said to lie."""

    def __init__(self, code: CodeType, text: str, shown: str) -> None:
        self.code, self.text, self.shown = code, text, shown

    def exec_module(self, module: ModuleType) -> None:
        """Run the code in the new module."""
        # Without a time stamp linecache never looks for the file, which lies relative to another folder.
        linecache.cache[self.shown] = (len(self.text), None, self.text.splitlines(keepends=True), self.shown)
        exec(self.code, module.__dict__)


class StudentFinder(importlib.abc.MetaPathFinder):
    """Answers for the modules that the student wrote and for the probes. Everything else is found as usual."""

    for_ranks = True
    """The processes of tensor-parallel ranks get a copy: they run the student's file too, behind the same fence."""

    def __init__(self, job: Job, chapters: Mapping[str, int], own: Path) -> None:
        """chapters: of the package's modules. own: the graded process's own folder."""
        self.job, self.chapters, self.own = job, chapters, own
        self.parts: dict[str, Part] = {part.module: part for part in job.parts}

    def __reduce__(self) -> tuple[Callable[..., StudentFinder], tuple[object, ...]]:
        """As a rank gets it."""
        return in_a_rank, (self.job, self.chapters, self.own)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of a module that the job holds, else None."""
        job = self.job
        if part := self.parts.get(fullname):
            loader = TextLoader(code_of(part), part.text, part.shown)
            return self._spec(fullname, loader, str(package_file(job, part)))
        if fullname == PROBES:
            code = compile(job.probes, job.probes_file, "exec", dont_inherit=True)
            loader = TextLoader(code, job.probes, job.probes_file)
            return self._spec(fullname, loader, str(Path(job.root, job.probes_file)))
        return None

    def _spec(self, fullname: str, loader: TextLoader, origin: str) -> importlib.machinery.ModuleSpec:
        spec = importlib.machinery.ModuleSpec(fullname, loader, origin=origin)
        spec.has_location = True
        spec.cached = None
        return spec


def package_file(job: Job, part: Part) -> Path:
    """Where the package's own text of a module lies, which the student's stands for."""
    return Path(job.root, *part.module.split(".")).with_suffix(".py")


def code_of(part: Part) -> CodeType:
    """The code that the judge compiled. Raises what compiling the text raises, where that could not be done."""
    if part.fault:
        compile(part.text, part.shown, "exec", dont_inherit=True)
        raise ValueError(part.fault)
    code: CodeType = marshal.loads(base64.b64decode(part.code))
    return code


def in_a_rank(job: Job, chapters: Mapping[str, int], own: Path) -> StudentFinder:
    """The finder of a process that the package has started for a rank; first the fence is raised there.

    What it refuses ends the rank, and with it whatever the ranks were to compute.
    """
    from .desk import close_files
    from .fence import raise_fence

    sys.prefix = sys.exec_prefix = job.prefix
    close_files()
    raise_fence(job, chapters, own, lambda message: None)
    return StudentFinder(job, chapters, own)


def install(job: Job, chapters: dict[str, int], own: Path) -> list[object]:
    """Make this process see the job's texts, and the package up to the job's chapter.

    chapters: of the package's modules. own: the process's own folder. Returns what looks modules up from now on (see
    `replaced`).
    """
    if job.root not in sys.path:
        sys.path.insert(0, job.root)
    if job.chapter:
        limit_to(job.chapter, chapters)
    sys.meta_path.insert(0, StudentFinder(job, chapters, own))
    return list(sys.meta_path)


def replaced(job: Job, finders: Sequence[object]) -> str:
    """What graded code did to get another module than the one it is to be graded with; empty when it did not.

    finders: what `install` returned. Libraries may add finders of their own, but none before these.
    """
    ours = [finder for finder in sys.meta_path if any(finder is one for one in finders)]
    if sys.meta_path[:1] != finders[:1] or len(ours) != len(finders):
        return "graded code may not change how modules are found (sys.meta_path)"
    for part in job.parts:
        module = sys.modules.get(part.module)
        loader = getattr(getattr(module, "__spec__", None), "loader", None)
        if module is not None and type(loader) is not TextLoader:
            return f"graded code may not put another module in the place of {part.module}"
    return ""
