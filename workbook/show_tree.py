"""`python -m workbook tree [NN]`: the package's files, one line each."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .tree import PACKAGE, ROOT, render_tree


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tree of the package, or of one chapter with its own files marked; 0."""
    parser = argparse.ArgumentParser(prog="python -m workbook tree", description=__doc__)
    parser.add_argument("chapter", nargs="?", type=int, metavar="NN")
    chapter = parser.parse_args(argv).chapter
    print(render_tree(ROOT / PACKAGE, chapter, chapter))
    return 0
