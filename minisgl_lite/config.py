"""EngineConfig: the options of the engine, checked once. Chapter 05."""

from __future__ import annotations

import os
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from .values import as_int, shown

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
    max_extend_tokens: prompt tokens a round may compute. tp_size: ranks that compute together, a process and a device
    each; those that torchrun has started, else they are started. memory_ratio: share of the free device memory that
    the KV pool may take, where num_pages is None.
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
            value = self._integer(name)
            if value is None and name in ("num_pages", "max_seq_len"):
                continue
            if type(value) is not int or value < 1:
                raise ValueError(f"{name} is {shown(value)}; it must be an integer of at least 1")
        graphs, ratio = self._integer("cuda_graph_max_bs"), self.memory_ratio
        if graphs is not None and not (type(graphs) is int and graphs >= 0):
            raise ValueError(f"cuda_graph_max_bs is {shown(graphs)}; it must be 0 (off) or more")
        if not (isinstance(ratio, Real) and 0.0 < ratio <= 1.0):
            raise ValueError(f"memory_ratio is {shown(ratio)}; it must be above 0 and at most 1")
        for name, values in (
            ("cache_type", ("naive", "radix")),
            ("attention_backend", ("torch", "flashinfer", "triton")),
        ):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, str) and value in values):
                raise ValueError(f"{name} is {shown(value)}; it must be one of {', '.join(values)}")
        if not (self.overlap is None or isinstance(self.overlap, bool)):
            raise ValueError(f"overlap is {shown(self.overlap)}; it must be True, False or None")

    def _integer(self, name: str) -> object:
        """An option; other libraries' integers become Python's."""
        object.__setattr__(self, name, as_int(getattr(self, name)))
        value: object = getattr(self, name)
        return value
