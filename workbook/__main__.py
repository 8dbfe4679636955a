"""`python -m workbook COMMAND`: build, steps, tree, lab, site, new-exercise, demo."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from .reenter import reenter

_COMMANDS = {
    "build": ("workbook.builder.cli:main", "regenerate notebooks, stubs and trees; --check, --execute"),
    "steps": ("workbook.steps:main", "steps check [NN]: prove each chapter's tree on its own"),
    "tree": ("workbook.show_tree:main", "tree [NN]: the package up to a chapter, new files marked"),
    "lab": ("workbook.lab:main", "JupyterLab on the first chapter that is not finished"),
    "site": ("workbook.site.cli:main", "build the website; --serve"),
    "new-exercise": ("workbook.scaffold:main", "the files of an exercise, to be filled in"),
    "demo": ("workbook.demo:main", "the engine at work on the bundled model"),
}


def main(argv: Sequence[str]) -> int:
    """Hand the arguments to a command; 2 for one that is not there."""
    if not argv or argv[0] not in _COMMANDS:
        for name, (_, text) in _COMMANDS.items():
            print(f"python -m workbook {name:12} {text}", file=sys.stdout if argv[:1] == ["--help"] else sys.stderr)
        return 0 if argv[:1] == ["--help"] else 2
    module, _, function = _COMMANDS[argv[0]][0].partition(":")
    return int(getattr(importlib.import_module(module), function)(argv[1:]))


if __name__ == "__main__":
    status = reenter(["-m", "workbook", *sys.argv[1:]], ("torch", "nbformat"), "The workbook")
    if status is not None:
        sys.exit(status)
    for stream in (sys.stdout, sys.stderr):  # trees and cards hold characters that a Windows console may not know
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    sys.exit(main(sys.argv[1:]))
