"""LLMs whose tokens are written down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from minisgl_lite import LLM
from minisgl_lite.models.checkpoint import Checkpoint
from minisgl_lite.models.scripted import ScriptedDecoder, scripted_config


def scripted_llm(table: Mapping[int, int], eos_ids: tuple[int, ...] = (), max_seq_len: int = 64, **options: Any) -> LLM:
    """Token t is followed by table[t], or by t itself."""
    config = scripted_config(max_seq_len=max_seq_len, eos_ids=eos_ids)
    checkpoint = Checkpoint(config, ScriptedDecoder(table, config), None)
    return LLM(checkpoint, **{"cache_type": "naive", "overlap": False, "num_pages": 256, **options})
