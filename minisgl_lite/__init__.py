"""An LLM serving engine, built by hand. The public names; importing this package imports no torch."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .config import EngineConfig as EngineConfig
    from .core import SamplingParams as SamplingParams
    from .llm import LLM as LLM
    from .output_processor import Completion as Completion

_EXPORTS = {"LLM": "llm", "Completion": "output_processor", "SamplingParams": "core", "EngineConfig": "config"}
__all__ = ["LLM", "Completion", "EngineConfig", "SamplingParams"]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_EXPORTS[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
