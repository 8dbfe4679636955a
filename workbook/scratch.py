"""Copies of the repository to run things in: the whole of it, or the tree of one chapter."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from threading import Event

from .judge.limits import end_family, start
from .tree import PACKAGE, chapter_of_source, module_files

_LEFT_OUT = {"work", "site", "build", "dist"}  # at the root: a student's, or built
_LOOK = 1.0  # seconds between two looks at whether to stop
CELL_TIMEOUT = 300  # seconds; a whole chapter takes about sixty


def environment(root: Path) -> dict[str, str]:
    """The environment of a process that works in the repository at `root`: its packages first, and no network."""
    path = os.pathsep.join(p for p in (str(root), os.environ.get("PYTHONPATH", "")) if p)
    return {**os.environ, "PYTHONPATH": path, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


def run_limited(
    command: list[str], folder: Path, seconds: float, stop: Event | None = None, **variables: str
) -> tuple[int, str]:
    """Run a command in the repository at `folder`: (exit status, what it printed, both streams).

    After `seconds`, or when `stop` is set, it is killed with all that it started, and the status is -1. What it leaves
    behind in its process group is ended, not waited for; an interruption of this thread ends it as well.
    """
    with tempfile.TemporaryFile() as printed:  # not a pipe, whose end a process left behind would keep open
        process = start(
            command,
            cwd=folder,
            env=environment(folder) | variables,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
        )
        try:
            status, end = _wait(process, seconds, stop)
        finally:
            end_family(process)
        printed.seek(0)
        return status, printed.read().decode("utf-8", errors="replace") + end


def _wait(process: subprocess.Popen[bytes], seconds: float, stop: Event | None) -> tuple[int, str]:
    """The exit status and nothing, or -1 and why the process was not waited for any longer."""
    start = time.monotonic()
    while (left := start + seconds - time.monotonic()) > 0:
        if stop and stop.is_set():
            return -1, "\nstopped"
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(min(left, _LOOK)), ""
    return -1, f"\nno end after {seconds:g} s"


def copy_repository(root: Path, target: Path) -> None:
    """Copy all that is not hidden, a student's or built. `target` must not exist."""

    def ignored(folder: str, names: list[str]) -> Iterable[str]:
        top = _LEFT_OUT if Path(folder) == root else set()
        return [
            n for n in names if n.startswith(".") or n in {"__pycache__", *top} or n.endswith((".egg-info", ".pyc"))
        ]

    shutil.copytree(root, target, ignore=ignored)


def chapter_tree(root: Path, target: Path, chapter: int) -> None:
    """Copy what a student has at the end of a chapter: no module, test, exercise or notebook of a later one.

    The classroom comes whole, but without its own tests, which are about all chapters. `target` must not exist.
    """
    copy_repository(root, target)
    shutil.rmtree(target / "tests" / "workbook", ignore_errors=True)
    for path in module_files(target).values():
        if (chapter_of_source(path.read_text(encoding="utf-8")) or 0) > chapter:
            path.unlink()
    for folder in sorted((target / PACKAGE).rglob("*"), reverse=True):
        if folder.is_dir() and [p.name for p in folder.iterdir()] == ["__init__.py"]:
            shutil.rmtree(folder)
    for pattern in ("tests/ch[0-9][0-9]*", "exercises/ch[0-9][0-9]*", "chapters/[0-9][0-9]_*"):
        for path in target.glob(pattern):
            if int(path.name.removeprefix("ch")[:2]) > chapter:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def nbval_command(tree: Path, notebooks: Iterable[Path], timeout: int = CELL_TIMEOUT) -> list[str]:
    """The command that re-executes notebooks and compares their outputs with the stored ones. Run it in `tree`.

    A cell that takes longer than `timeout` seconds fails.
    """
    options = ["--nbval", "--nbval-current-env", f"--nbval-cell-timeout={timeout}"]
    options += ["--nbval-sanitize-with", str(tree / "workbook" / "nbval.ini")]
    options += ["-p", "workbook.nbval_limit", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=short"]
    return [sys.executable, "-m", "pytest", *options, *(str(path) for path in notebooks)]
