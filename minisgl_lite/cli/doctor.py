"""What is here, what is missing, and which chapters run. Chapter 01."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from ..models.places import BUNDLED, SMOLLM2

ROOT = Path(__file__).resolve().parent.parent.parent
Finding = tuple[bool, str, str]
"""(all right, what was found, what to do otherwise)"""


def doctor() -> int:
    """Print one line for each thing that a chapter may need; 1 when something that every chapter needs is missing."""
    print(f"Python {platform.python_version()} on {platform.system()} {platform.machine()}: {sys.executable}\n")
    needed = {
        "torch": _package("torch"),
        "transformers": _package("transformers"),
        "safetensors": _package("safetensors"),
    }
    needed["bundled checkpoint"] = _checkpoint(BUNDLED["tiny"], "git checkout minisgl_lite/assets")
    classroom = {
        "JupyterLab": _package("jupyterlab"),
        "notebook kernel": _package("ipykernel"),
        "plots": _package("matplotlib"),
    }
    optional: dict[str, Finding] = {
        "smollm2": _checkpoint(SMOLLM2, "python -m minisgl_lite fetch smollm2"),
        "CUDA GPU": _gpu(),
        "FlashInfer": _package("flashinfer", "pip install -e '.[gpu]' (Linux with a CUDA GPU)", "flashinfer-python"),
        "Triton": _package("triton", "comes with PyTorch for CUDA"),
        "Chromium": _chromium(),
        "site": _package("mkdocs"),
    }
    _print("every chapter needs", needed)
    _print("notebooks need", classroom)
    _print("some chapters and tools can use", optional)
    sound = all(finding[0] for finding in needed.values())
    print(_chapters(sound, all(f[0] for f in classroom.values()), optional["CUDA GPU"][0]))
    return 0 if sound else 1


def _print(title: str, findings: dict[str, Finding]) -> None:
    print(f"{title}:")
    for name, (fine, found, remedy) in findings.items():
        print(f"  {'ok     ' if fine else 'missing'}  {name:19} {found if fine else remedy}")
    print()


def _package(name: str, remedy: str = "make setup", distribution: str | None = None) -> Finding:
    try:
        there = importlib.util.find_spec(name) is not None
        return there, importlib.metadata.version(distribution or name) if there else "", remedy
    except (ImportError, importlib.metadata.PackageNotFoundError):
        return False, "", remedy


def _checkpoint(folder: Path, remedy: str) -> Finding:
    fine = (folder / "config.json").is_file() and any(folder.glob("*.safetensors"))
    return fine, str(folder), remedy


def _gpu() -> Finding:
    remedy = "no chapter needs one: the GPU chapters show recorded results here"
    return _guarded(_find_gpu, remedy)


def _find_gpu() -> str:
    import torch

    if not torch.cuda.is_available():
        return ""
    major, minor = torch.cuda.get_device_capability()
    return f"{torch.cuda.get_device_name()} (compute capability {major}.{minor}), {torch.cuda.device_count()} in all"


def _guarded(look: Callable[[], str], remedy: str) -> Finding:
    try:
        found = look()
    except Exception as error:  # a broken driver must not keep the rest from being told
        return False, "", f"{remedy} ({type(error).__name__}: {error})"
    return bool(found), found, remedy


def _chromium() -> Finding:
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    found = next((path for name in names if (path := shutil.which(name))), "")
    return bool(found), found, "only for looking at the site without a screen"


def _chapters(sound: bool, notebooks: bool, gpu: bool) -> str:
    here = sorted(p.stem for p in (ROOT / "chapters").glob("[0-9][0-9]_*.ipynb"))
    if not sound:
        return "no chapter runs until what is missing above is there"
    names = ", ".join(name[:2] for name in here) or "none in this checkout"
    how = "" if notebooks else " as plain Python; for the notebooks: make setup"
    speed = " (live on the GPU)" if gpu else f" on this machine's CPU, {os.cpu_count()} cores"
    return f"chapters that run here: {names}{how}{speed}"
