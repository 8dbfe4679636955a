"""Where checkpoints with a short name are: bundled, or in the user's cache. No torch. Chapter 01."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """Where this user's converted checkpoints are kept, by the custom of the system."""
    if os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "minisgl_lite"


BUNDLED = {"tiny": Path(__file__).resolve().parent.parent / "assets" / "tiny-qwen3"}
SMOLLM2 = cache_folder() / "smollm2-135m-instruct"
