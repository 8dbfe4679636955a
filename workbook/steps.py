"""`python -m workbook steps check [NN ...]`: prove that the tree of each chapter stands on its own."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

from .scratch import CELL_TIMEOUT, chapter_tree, nbval_command, run_limited
from .spec import load_exercises
from .tree import ROOT, module_files, package_modules

_LIMIT = 1200  # seconds for one command
_IMPORT = """\
import importlib, pathlib, sys
absent = 0
for name in sys.argv[1:]:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in ("flashinfer", "triton"):  # these two come with a GPU
            raise
        absent += 1
        continue
    assert pathlib.Path(module.__file__).resolve().is_relative_to(pathlib.Path.cwd().resolve()), module.__file__
print(len(sys.argv) - 1 - absent, "modules imported,", absent, "not: they need a GPU's libraries")
"""
_TREES = 2  # at a time: as many as the smallest machine has cores
_THREADS = {"OMP_NUM_THREADS": "1"}  # so that each takes one
_NO_TESTS = 5  # pytest's exit status when it collected nothing


def main(argv: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """0 when every tree passes, 1 otherwise; the last line names what failed."""
    parser = argparse.ArgumentParser(prog="python -m workbook steps", description=__doc__)
    parser.add_argument("action", choices=["check"])
    parser.add_argument("chapters", nargs="*", type=int, metavar="NN", help="only these chapters (default: all)")
    parser.add_argument("--cell-timeout", type=int, default=CELL_TIMEOUT, metavar="S", help="seconds for one cell")
    options = parser.parse_args(argv)
    known = sorted(set(package_modules(root).values()))
    unknown = [number for number in options.chapters if number not in known]
    if unknown:
        parser.error(f"there is no chapter {unknown[0]:02d}; there are {known[0]:02d} to {known[-1]:02d}")
    chapters = options.chapters or known
    failed = check_chapters(root, chapters, options.cell_timeout)
    print(f"failed: {', '.join(failed)}" if failed else f"{len(chapters)} chapter trees stand on their own")
    return 1 if failed else 0


def check_chapters(root: Path, chapters: Sequence[int], cell_timeout: int = CELL_TIMEOUT) -> list[str]:
    """Check the trees of chapters, two at a time; what failed, in order of the chapters."""
    stop = Event()
    with ThreadPoolExecutor(_TREES) as pool:
        try:
            checked = pool.map(lambda chapter: check_chapter(root, chapter, stop, cell_timeout), chapters)
            return [label for failed in checked for label in failed]
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def check_chapter(root: Path, chapter: int, stop: Event, cell_timeout: int = CELL_TIMEOUT) -> list[str]:
    """Build one chapter's tree in a temporary folder and run it, until `stop` is set; what failed.

    Run are the imports of all its modules, the chapter's own tests and notebook (those of earlier chapters ran in
    smaller trees), and the reference solutions of all exercises up to it.
    """
    with tempfile.TemporaryDirectory(prefix="minisgl_lite-") as folder:
        tree = Path(folder).resolve() / "tree"
        chapter_tree(root, tree, chapter)
        failed = []
        for what, command in _commands(tree, chapter, cell_timeout).items():
            label = f"chapter {chapter:02d} {what}"
            if command is None:
                print(f"{label:24} none there", flush=True)
            elif not _run(label, command, tree, stop):
                failed.append(label)
        return failed


def _commands(tree: Path, chapter: int, cell_timeout: int) -> dict[str, list[str] | None]:
    """What to run in a tree; None where there is nothing to run."""
    python = sys.executable
    names = [name for name in module_files(tree) if not name.endswith("__main__")]
    folders = [str(path.relative_to(tree)) for path in (tree / "tests").glob(f"ch{chapter:02d}*")]
    notebooks = sorted((tree / "chapters").glob(f"{chapter:02d}_*.ipynb"))
    tests = [
        python,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:nbval",  # its imports take longer than many a chapter's tests
        "-m",
        "not gpu",
        "--tb=short",
        *folders,
    ]
    return {
        "imports": [python, "-c", _IMPORT, *names],
        "tests": tests if folders else None,
        "notebook": nbval_command(tree, notebooks, cell_timeout) if notebooks else None,
        "exercises": [python, "judge.py", "--reference"] if load_exercises(tree) else None,
    }


def _run(label: str, command: list[str], tree: Path, stop: Event) -> bool:
    start = time.monotonic()
    status, output = run_limited(command, tree, _LIMIT, stop, **_THREADS)
    passed = status == 0 or (status == _NO_TESTS and label.endswith("tests"))
    lines = [f"{label:24} {'ok' if passed else 'FAILED'}, {time.monotonic() - start:.0f} s"]
    if not passed and not stop.is_set():
        lines += [f"    {line}" for line in output.splitlines()[-40:]]
    print("\n".join([*lines, ""]), end="", flush=True)  # in one piece: the other tree prints too
    return passed
