"""In the graded process: which paths its code may read and write."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PosixPath, PurePath, WindowsPath
from typing import NamedTuple, TypeAlias

from .job import Job
from .outside import is_own_process

Name: TypeAlias = str | None
"""A path; None for what names no file, such as a descriptor."""
ELSEWHERE = (".git", "chapters", "solutions", "site")
"""Folders of a workbook in which answers lie, or will."""


def digest_of(folder: str | PurePath) -> str:
    """What stands for a folder that graded code shall not learn the name of."""
    return hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()


def real_path(path: str) -> str:
    """Where a path leads; where that may not be looked at, the path itself."""
    try:
        return os.path.realpath(path)
    except OSError:  # a link of another process, in /proc
        return os.path.abspath(path)


def below(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def hidden_files(modules: Iterable[Path]) -> Iterator[Path]:
    """The files of modules that are given without a suffix."""
    for module in modules:
        yield from (module.with_name(f"{module.name}.py"), module / "__init__.py")


def exact(path: object, refuse: Callable[[str], None]) -> Name:
    """A path as the system will take it: a subclass of str may tell the fence something else."""
    if isinstance(path, str):
        return str.__str__(path)
    if isinstance(path, (bytes, bytearray)):
        return os.fsdecode(bytes(memoryview(path)))
    if type(path) in (PosixPath, WindowsPath, os.DirEntry):
        return os.fsdecode(path)  # type: ignore[arg-type]
    if isinstance(path, os.PathLike):
        refuse(f"graded code may not name a file by an object of its own: {type(path).__name__}")
    return None


class Places(NamedTuple):
    """Which folders are closed to the code of a job. A tuple: nothing in it can be changed.

    own: the process's own folder, where it is free. root: of the workbook. guarded: may not be written to.
    libraries: may be read. private: digests of folders that may not. closed: folders of answers. exercises: the folder
    of exercises.
    """

    own: str
    root: str
    guarded: tuple[str, ...]
    libraries: tuple[str, ...]
    private: frozenset[str]
    closed: tuple[str, ...]
    exercises: str

    def is_library(self, path: Name) -> bool:
        """Whether a file lies in the folders of Python and its packages."""
        return path is not None and path.startswith(self.libraries) and ".." not in path

    def may_run(self, file: str) -> bool:
        """Whether code of a file may start programs: libraries, and the package itself. A student's has a name that is
        relative to the workbook.
        """
        return self.is_library(file) or below(file, self.root)

    def may_not_write(self, path: Name) -> bool:
        """Whether it lies in the workbook or among the libraries."""
        if path is None:
            return False
        real = real_path(path)
        return not below(real, self.own) and any(below(real, folder) for folder in self.guarded)

    def may_not_read(self, path: Name, answers: frozenset[str]) -> bool:
        """Whether it is an answer, or that compiled, or something of another process, or in a private folder."""
        if path is None:
            return False
        real = real_path(path)
        if below(real, self.own):
            return False
        file = PurePath(real)
        if file.parent.name == "__pycache__":
            file = file.parent.parent / (file.name.partition(".")[0] + ".py")
        shown = any(below(real, folder) for folder in self.closed)
        variant = below(real, self.exercises) and "variants" in PurePath(real).parts
        others = _is_others(real) or _is_others(os.path.abspath(path))
        return str(file) in answers or shown or variant or others or self.is_private(path)

    def is_private(self, path: Name) -> bool:
        """Whether it lies in a private folder."""
        if not self.private or path is None:
            return False
        real = real_path(path)
        folders = [PurePath(real), *PurePath(real).parents]
        return not below(real, self.own) and any(digest_of(folder) in self.private for folder in folders)


def places_of(job: Job, own: Path) -> Places:
    """What is closed to the code of a job."""
    root, prefixes = os.path.realpath(job.root), (sys.prefix, sys.base_prefix)
    return Places(
        own=os.path.realpath(own),
        root=job.root,
        guarded=tuple(os.path.realpath(name) for name in (job.root, *prefixes)),
        libraries=tuple(name + os.sep for name in prefixes),
        private=frozenset(job.private),
        closed=tuple(os.path.join(root, name) for name in ELSEWHERE),
        exercises=os.path.join(root, "exercises"),
    )


def _is_others(real: str) -> bool:
    """Whether it is something of another process, in Linux's /proc. Whose child a process is, anybody may know."""
    parts = PurePath(real).parts
    if parts[1:2] != ("proc",) or len(parts) < 4 or not parts[2].isdigit() or parts[3:] == ("stat",):
        return False
    return not is_own_process(int(parts[2]))
