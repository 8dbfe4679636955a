"""Run the classroom from texts that were read before any submission ran, whatever has become of its files since.

This file runs in the new process before anything else is there, so it imports nothing of the project.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

OPTIONS = ("-I", "-S", "-B", "-X", "utf8")
"""Of the interpreter: nothing that lies in a folder of packages is run before the texts are there."""
START = """import json, sys
packed = json.loads(sys.stdin.readline())
exec(packed["memory"], names := {"__name__": "memory"})
names["go"](packed)"""
"""What `python -c` runs: it reads one line, as `packed` makes it; the rest of standard input is the module's."""


def packed(root: Path, module: str, path: Sequence[str], package: Path | None = None) -> dict[str, object]:
    """All that a process needs to run a module of the classroom. root: of the classroom.

    path: folders of other packages, looked at last: the process itself is started without any, since to look for them
    is to run what lies in them (-S). package: a folder beside which more texts lie.
    """
    folders = [root / "workbook", *([package] if package else [])]
    files = [(file, folder.parent) for folder in folders for file in sorted(folder.rglob("*.py"))]
    sources = {_name(file, base): (str(file), file.read_text(encoding="utf-8")) for file, base in files}
    memory = Path(__file__).read_text(encoding="utf-8")
    return {"memory": memory, "sources": sources, "module": module, "path": list(path), "prefix": sys.prefix}


class MemoryFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules among texts: name -> (path, text)."""

    def __init__(self, sources: Mapping[str, Sequence[str]]) -> None:
        self.sources = sources

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of a module that is there, else None."""
        if fullname not in self.sources:
            return None
        file = self.sources[fullname][0]
        package = file.endswith("__init__.py") or any(name.startswith(f"{fullname}.") for name in self.sources)
        spec = importlib.machinery.ModuleSpec(fullname, self, origin=file, is_package=package)
        spec.has_location = True
        return spec

    def exec_module(self, module: ModuleType) -> None:
        """Run its text."""
        file, text = self.sources[module.__name__]
        exec(compile(text, file, "exec", dont_inherit=True), module.__dict__)


def go(x: Mapping[str, object]) -> None:
    """Run the `main` of the module that was packed."""
    sources, path, module = x["sources"], x["path"], x["module"]
    assert isinstance(sources, dict)
    assert isinstance(path, list)
    sys.meta_path.insert(0, MemoryFinder(sources))
    sys.path += [folder for folder in path if folder not in sys.path]
    sys.prefix = sys.exec_prefix = str(x["prefix"])  # of the environment, which is found out with -S left out only
    __import__(str(module))
    sys.modules[str(module)].main()


def _name(file: Path, root: Path) -> str:
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
