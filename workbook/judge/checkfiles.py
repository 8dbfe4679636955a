"""Find and load the check functions of an exercise, which run in the judge."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from ..spec import Exercise, SpecError


def checks_path(root: Path, exercise: Exercise) -> str:
    """The file that holds an exercise's checks: `checks/ex<k>.py`, or the chapter's `checks.py`; relative to the root.

    The files of a folder `checks/` import what they share from each other (`from .common import ...`).
    """
    own = f"{exercise.folder}/checks/ex{exercise.id.split('.')[1]}.py"
    return own if (root / own).is_file() else f"{exercise.folder}/checks.py"


def load_checks(root: Path, exercise: Exercise, prefix: str = "") -> ModuleType:
    """Run the file of checks as a module. Raises SpecError when it is missing or raises.

    prefix: sets the module's name apart from that of the same exercise's checks from another folder.
    """
    file = checks_path(root, exercise)
    path, name = root / file, f"workbook_{prefix}checks_ch{exercise.chapter:02d}"
    if not path.is_file():
        raise SpecError(f"{file} is missing")
    for loaded in [key for key in sys.modules if key == name or key.startswith(f"{name}.")]:
        del sys.modules[loaded]  # another root may have been graded before
    # as a package that lies in its own folder, so that `from .common import ...` finds the file beside it
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=[str(path.parent)])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise SpecError(f"{file} cannot be loaded: {error!r}") from error
    finally:
        sys.dont_write_bytecode = before
    return module
