"""Find and load the check functions of an exercise, which run in the judge."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from ..spec import Exercise, SpecError
from ..stubs import read_text
from .memory import MemoryFinder


def checks_path(root: Path, exercise: Exercise) -> str:
    """The file that holds an exercise's checks: `checks/ex<k>.py`, or the chapter's `checks.py`; relative to the root.

    The files of a folder `checks/` import what they share from each other (`from .common import ...`).
    """
    own = f"{exercise.folder}/checks/ex{exercise.id.split('.')[1]}.py"
    return own if (root / own).is_file() else f"{exercise.folder}/checks.py"


class _Checks(MemoryFinder):
    """Finds one file of checks, as a package that lies in its own folder, and the files beside it."""

    def __init__(self, name: str, path: Path) -> None:
        beside = {f"{name}.{file.stem}": (str(file), read_text(file)) for file in sorted(path.parent.glob("*.py"))}
        super().__init__({name: beside[f"{name}.{path.stem}"], **beside})
        self.name = name


def load_checks(root: Path, exercise: Exercise, prefix: str = "") -> tuple[ModuleType, Mapping[str, str]]:
    """Run the file of checks as a module. Returns it, and the texts that it may come from, by name of the module: they
    are read once, and no compiled form of them is. Raises SpecError when it is missing or raises.

    prefix: sets the module's name apart from that of the same exercise's checks from another folder.
    """
    file = checks_path(root, exercise)
    path, name = root / file, f"workbook_{prefix}checks_ch{exercise.chapter:02d}"
    if not path.is_file():
        raise SpecError(f"{file} is missing")
    for loaded in [key for key in sys.modules if key == name or key.startswith(f"{name}.")]:
        del sys.modules[loaded]  # another root may have been graded before
    sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, _Checks) or f.name != name]
    try:
        checks = _Checks(name, path)
        sys.meta_path.insert(0, checks)
        module = importlib.import_module(name)
    except Exception as error:
        raise SpecError(f"{file} cannot be loaded: {error!r}") from error
    return module, {name: text for name, (_, text) in checks.sources.items()}
