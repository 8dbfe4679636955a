"""EngineConfig: the options of the engine, checked once. Chapter 05."""

from __future__ import annotations

import os
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Literal

from .values import as_int, shown

if TYPE_CHECKING:
    import torch

    from .models.checkpoint import Checkpoint

CacheType = Literal["naive", "radix"]
AttentionName = Literal["torch", "flashinfer", "triton"]


@dataclass(frozen=True)
class EngineConfig:
    """The options of an LLM.

    Where None is allowed it means: the best that is there.

        model              "tiny" (bundled), "smollm2", a folder, a Hub id, or a checkpoint that is loaded already
        dtype              a torch.dtype or its name; None: float32 on a CPU, else the checkpoint's
        device             a torch.device or its name; None: a CUDA GPU, else the CPU
        page_size          positions that a page of the KV pool holds
        num_pages          pages of the KV pool, each spanning all layers; None: as many as all rows could use, within
                           memory_ratio on a GPU and 1 GiB on a CPU, but at least one full context
        max_running_req    requests that run at the same time: rows of the page table
        max_seq_len        positions that a request may have, prompt and answer; None: as many as the model knows
        max_extend_tokens  prompt tokens that a round may compute
        cache_type         "naive": K/V ends with its request; "radix": it is kept for requests that begin alike
        overlap            whether a round is launched before the last one is settled
        attention_backend  "torch": runs anywhere; "flashinfer": a CUDA GPU, in 16 bits; "triton"
        cuda_graph_max_bs  the largest decode batch that is replayed as a CUDA graph; 0: none
        tp_size            ranks that compute together, a process and a device each: those of torchrun, else started
        memory_ratio       the share of a GPU's free memory that the KV pool may take, where num_pages is None
    """

    model: str | os.PathLike[str] | Checkpoint = "tiny"
    dtype: torch.dtype | str | None = None
    device: torch.device | str | None = None
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
            raise ValueError(f"memory_ratio is {shown(ratio)}; it must be a number above 0 and at most 1")
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
