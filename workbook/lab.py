"""`python -m workbook lab [NN]`: JupyterLab on the student's copy of a chapter, in `work/`."""

from __future__ import annotations

import argparse
import contextlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat.sign import NotebookNotary

from .builder.notebooks import PREDICT, text_of
from .progress import first_chapter, note_use, results
from .scratch import environment
from .spec import load_exercises
from .student import create_missing, write_text
from .tree import ROOT

FEW = 4
"""As many new files are named one by one."""


def main(argv: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Make what is missing in `work/`, then start JupyterLab; its exit status, or 1 when the chapter is not there."""
    parser = argparse.ArgumentParser(prog="python -m workbook lab", description=__doc__)
    parser.add_argument("chapter", nargs="?", type=int, metavar="NN", help="default: the first you have not finished")
    parser.add_argument("--no-open", action="store_true", help="only make the files and name the notebook")
    options = parser.parse_args(argv)
    copies = copy_notebooks(root)
    for name in copies:
        trust(root / name)
    made = [*copies, *create_missing(root)]
    # the first time there are dozens, and Jupyter's own lines come behind them
    for name in made if len(made) <= FEW else [f"{len(made)} files in work/: your notebooks and exercises"]:
        print(f"made {name}")
    notebook = choose(root, options.chapter)
    if notebook is None:
        missing = "no chapter" if options.chapter is None else f"no chapter {options.chapter:02d}"
        print(f"there is {missing} with a notebook", file=sys.stderr)
        return 1
    note_use(root)
    print(f"your copy: {notebook.relative_to(root).as_posix()}", flush=True)
    if options.no_open:
        return 0
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={root}", str(notebook)]
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # in a container, mostly; Jupyter asks for a word of consent
        command.append("--allow-root")
    try:
        return subprocess.run(command, cwd=root, env=environment(root)).returncode
    except KeyboardInterrupt:  # the usual way to end JupyterLab
        return 0


def copy_notebooks(root: Path) -> list[str]:
    """Give the student a copy of every notebook not there yet; the paths made. Never touches one that exists.

    The outputs of cells tagged `predict` are left out: the text above them asks what they will be. Links to docs/ are
    those of the copy's place.
    """
    made = []
    for notebook in sorted((root / "chapters").glob("[0-9][0-9]_*.ipynb")):
        copy = root / "work" / "chapters" / notebook.name
        if not copy.exists():
            write_text(copy, text_of(_without_answers(notebook)))
            made.append(copy.relative_to(root).as_posix())
    return made


def _without_answers(path: Path) -> Any:
    """A notebook in which the cells to predict look as if they had never been run."""
    read: Any = nbformat.read  # it is not typed
    notebook = read(path, as_version=4)
    for cell in notebook.cells:
        if PREDICT in cell.metadata.get("tags", []):
            cell.outputs, cell.execution_count = [], None
        elif cell.cell_type == "markdown":
            cell.source = cell.source.replace("](../docs/", "](../../docs/")  # the copy lies a folder deeper
    return notebook


def trust(path: Path) -> None:
    """Tell JupyterLab that the outputs of a notebook are our own: only then do its viewers run before its cells do.

    Where Jupyter's records cannot be written, nothing happens: the viewers show their picture.
    """
    read: Any = nbformat.read
    notary: Any = NotebookNotary
    with contextlib.suppress(OSError, sqlite3.Error):
        notary().sign(read(path, as_version=4))


def choose(root: Path, chapter: int | None = None) -> Path | None:
    """The student's notebook of a chapter; without one, of the first with an exercise not passed, else the last.

    Chapters before the one that the student began at are passed over.
    """
    copies = {int(p.name[:2]): p for p in sorted((root / "work" / "chapters").glob("[0-9][0-9]_*.ipynb"))}
    if chapter is not None or not copies:
        return copies.get(chapter or 0)
    start = first_chapter(root)
    passed = {id_ for id_, status in results(root).items() if status == "passed"}
    open_chapters = {e.chapter for e in load_exercises(root) if e.id not in passed and e.chapter >= start}
    return copies[min(open_chapters & copies.keys(), default=max(copies))]
