"""Fingerprints: what a notebook's stored outputs depend on, and whether it is still so."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

CHECKPOINT = "minisgl_lite/assets/tiny-qwen3"
RECORDED = "benchmarks/recorded"
_PACKAGES = ("minisgl_lite", "workbook", "tests")

# run in the kernel after the last cell: the names of the repository's modules that were imported
PROBE = f"""\
import sys
print("\\n".join(sorted(name for name in sys.modules if name.partition(".")[0] in {_PACKAGES!r})))
"""


def take(notebook: Any, root: Path, modules: Iterable[str]) -> dict[str, Any]:
    """The fingerprint of a notebook that was just executed.

    cells: a hash of its code cells with their tags (prose has no outputs). checkpoint: of the bundled model's files.
    modules: dotted name -> hash of its file, for those of `modules` that lie in the repository; a package's hash
    covers the scripts and style sheets beside its `__init__.py` too. recorded: of the recorded runs, if a cell names
    their folder.
    """
    found = {name: _module_hash(root, name) for name in sorted(modules)}
    parts = {
        "cells": _cells_hash(notebook),
        "checkpoint": _checkpoint_hash(root),
        "modules": {name: value for name, value in found.items() if value is not None},
    }
    recorded = _recorded_hash(notebook, root)
    return parts if recorded is None else parts | {"recorded": recorded}


def changes(notebook: Any, root: Path) -> list[str]:
    """What changed since the notebook was executed, in words; empty when its outputs still hold. Executes nothing."""
    stored = notebook.metadata.get("minisgl_lite", {}).get("fingerprint")
    if not isinstance(stored, dict) or not isinstance(stored.get("modules"), dict):
        return ["it was never executed"]
    found = []
    if stored.get("cells") != _cells_hash(notebook):
        found.append("its cells")
    if stored.get("checkpoint") != _checkpoint_hash(root):
        found.append("the checkpoint")
    if stored.get("recorded") != _recorded_hash(notebook, root):
        found.append("the recorded runs")
    return found + [name for name, value in sorted(stored["modules"].items()) if _module_hash(root, name) != value]


def _cells_hash(notebook: Any) -> str:
    digest = hashlib.sha256()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            for part in (cell.source, *cell.metadata.get("tags", [])):
                digest.update(part.encode("utf-8") + b"\0")
    return digest.hexdigest()


def _checkpoint_hash(root: Path) -> str | None:
    folder = root / CHECKPOINT
    files = [p for p in folder.glob("*") if p.suffix in (".safetensors", ".json") and p.name != "oracle.json"]
    if not files:
        return None
    digest = hashlib.sha256()
    for path in sorted(files):
        content = path.read_bytes()
        digest.update(path.name.encode("utf-8") + b"\0")
        digest.update(content if path.suffix == ".safetensors" else _lf(content))
    return digest.hexdigest()


def _recorded_hash(notebook: Any, root: Path) -> str | None:
    """None where no cell reads a recorded run."""
    folder = root / RECORDED
    if not any(c.cell_type == "code" and f'"{folder.name}"' in c.source for c in notebook.cells):
        return None
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.json")):
        digest.update(path.name.encode("utf-8") + b"\0" + _lf(path.read_bytes()))
    return digest.hexdigest()


def _module_hash(root: Path, name: str) -> str | None:
    base = root.joinpath(*name.split("."))
    if (base / "__init__.py").is_file():
        beside = sorted(path for path in base.iterdir() if path.suffix in (".css", ".js"))
        files = [base / "__init__.py", *beside]
    elif base.with_suffix(".py").is_file():
        files = [base.with_suffix(".py")]
    else:
        return None
    return hashlib.sha256(b"\0".join(_lf(path.read_bytes()) for path in files)).hexdigest()


def _lf(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n")
