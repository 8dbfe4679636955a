"""EngineConfig: the options of the engine, checked once. Chapter 05."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .models.checkpoint import Checkpoint

CacheType = Literal["naive", "radix"]
AttentionName = Literal["torch", "flashinfer", "triton"]


@dataclass(frozen=True)
class EngineConfig:
    """What an engine is built from; see LLM for each option. None means: the best that is there.

    model: "tiny", a folder, a Hub id or a checkpoint that is loaded already. dtype: a torch.dtype or its name.
    num_pages: pages of the KV pool; a page spans all layers. max_running_req: rows of the page table.
    max_seq_len: positions a request may have, at most the model's.
    max_extend_tokens: prompt tokens a round may compute. memory_ratio: share of the free device memory that the KV
    pool may take, where num_pages is None.
    """

    model: str | os.PathLike[str] | Checkpoint = "tiny"
    dtype: Any = None
    device: Any = None
    page_size: int = 1
    num_pages: int | None = None
    max_running_req: int = 256
    max_seq_len: int | None = None
    max_extend_tokens: int = 8192
    cache_type: CacheType | None = None
    overlap: bool | None = None
    attention_backend: AttentionName | None = None
    cuda_graph_max_bs: int | None = None
    tp_size: int = 1
    memory_ratio: float = 0.9

    def __post_init__(self) -> None:
        """Raise ValueError naming the option, its value and its limit."""
        for name in ("page_size", "num_pages", "max_running_req", "max_seq_len", "max_extend_tokens", "tp_size"):
            value = getattr(self, name)
            if value is None and name in ("num_pages", "max_seq_len"):
                continue
            if type(value) is not int or value < 1:
                raise ValueError(f"{name} is {value!r}; it must be an integer of at least 1")
        if self.cuda_graph_max_bs is not None and self.cuda_graph_max_bs < 0:
            raise ValueError(f"cuda_graph_max_bs is {self.cuda_graph_max_bs}; it must be 0 (off) or more")
        if not 0.0 < self.memory_ratio <= 1.0:
            raise ValueError(f"memory_ratio is {self.memory_ratio}; it must be above 0 and at most 1")
        for name, values in (
            ("cache_type", ("naive", "radix")),
            ("attention_backend", ("torch", "flashinfer", "triton")),
        ):
            if getattr(self, name) not in (None, *values):
                raise ValueError(f"{name} is {getattr(self, name)!r}; it must be one of {', '.join(values)}")
        if self.overlap not in (None, True, False):
            raise ValueError(f"overlap is {self.overlap!r}; it must be True, False or None")
