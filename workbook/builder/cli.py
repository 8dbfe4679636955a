"""`python -m workbook build`: regenerate what is derived, check that nothing differs, refresh stale outputs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ..scratch import CELL_TIMEOUT
from ..source import SourceError
from ..spec import SpecError
from ..tree import ROOT
from .derived import Derived, derive
from .master import BuildError


def main(argv: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """0 when all is well; 1 when something cannot be built or, with --check, differs or is stale."""
    parser = argparse.ArgumentParser(prog="python -m workbook build", description=__doc__)
    parser.add_argument("chapters", nargs="*", type=int, metavar="NN", help="only the notebooks of these chapters")
    parser.add_argument("--execute", action="store_true", help="execute the notebooks whose outputs are stale")
    parser.add_argument("--force", action="store_true", help="with --execute: also those that are not stale")
    parser.add_argument("--cell-timeout", type=int, default=CELL_TIMEOUT, metavar="S", help="seconds for one cell")
    parser.add_argument("--check", action="store_true", help="write nothing; fail on any difference or stale output")
    options = parser.parse_args(argv)
    if options.check and options.execute:
        parser.error("--check writes nothing, --execute does: choose one")
    try:
        derived = derive(root, options.chapters, options.execute, options.force, options.cell_timeout, _progress)
    except (BuildError, SourceError, SpecError) as error:
        print(f"workbook build: {error}", file=sys.stderr)
        return 1
    return _check(derived, root) if options.check else _write(derived, root)


def _check(derived: Derived, root: Path) -> int:
    differing = derived.differing(root)
    for name in differing:
        print(f"differs: {name}")
    _name_stale(derived)
    _name_failed(derived)
    if differing or derived.stale or derived.failed:
        print("run `python -m workbook build --execute` and commit what it changes")
        return 1
    print(f"{len(derived.files)} derived files are as they should be")
    return 0


def _write(derived: Derived, root: Path) -> int:
    for name in derived.write(root):
        print(f"{'removed' if name in derived.obsolete else 'wrote'}: {name}")
    _name_stale(derived)
    _name_failed(derived)
    if derived.failed:
        return 1
    print(f"{len(derived.files)} derived files are up to date" + (", but for stale outputs" if derived.stale else ""))
    return 0


def _name_stale(derived: Derived) -> None:
    for name, why in derived.stale.items():
        print(f"stale: {name} (changed: {', '.join(why)})")


def _name_failed(derived: Derived) -> None:
    for reason in derived.failed:
        print(f"workbook build: {reason}", file=sys.stderr)


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
