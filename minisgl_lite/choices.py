"""The parts an engine can be made of. The only place that names modules of later chapters. Chapter 05."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Choice:
    """One row of the table below: where a part is found, and which chapter brings it."""

    module: str
    name: str
    chapter: str

    @property
    def here(self) -> bool:
        """Whether this tree has the module."""
        try:
            return importlib.util.find_spec(f"{__package__}.{self.module}") is not None
        except ModuleNotFoundError:
            return False

    def load(self) -> Callable[..., Any]:
        """The factory."""
        factory: Callable[..., Any] = getattr(importlib.import_module(f"{__package__}.{self.module}"), self.name)
        return factory


# part -> value -> where it is; the last value that is there is the best one
CHOICES: dict[str, dict[Any, Choice]] = {
    "adder": {
        "prompt": Choice("scheduler.prefill", "PrefillAdder", "05"),
        "promise": Choice("scheduler.admission", "AdmittingAdder", "06"),
        "chunked": Choice("scheduler.chunked", "ChunkedAdder", "07"),
    },
    "queue": {
        "whole": Choice("scheduler.prefill", "PrefillManager", "05"),
        "chunked": Choice("scheduler.chunked", "ChunkedPrefillManager", "07"),
    },
    "cache_type": {
        "naive": Choice("scheduler.cache", "CacheManager", "05"),
        "radix": Choice("scheduler.prefix", "PrefixCacheManager", "08"),
    },
    "overlap": {
        False: Choice("scheduler.loop", "Loop", "05"),
        True: Choice("scheduler.overlap", "OverlapLoop", "09"),
    },
    "copy_stream": {"on": Choice("engine.streams", "CopyStream", "09")},
    "chooser": {
        "greedy": Choice("engine.choose", "Greedy", "05"),
        "sampler": Choice("engine.sampler", "Sampler", "10"),
    },
    "text": {"incremental": Choice("tokenizer.output", "OutputText", "10")},
    "attention_backend": {
        "torch": Choice("attention.paged", "TorchPagedAttention", "04"),
        "flashinfer": Choice("attention.flashinfer", "FlashInferAttention", "11"),
        "triton": Choice("kernels.attention", "TritonAttention", "17"),
    },
    "cuda_graph_max_bs": {"on": Choice("engine.capture", "capture_decode", "12")},
    "gpu_decoder": {"on": Choice("kernels.fused", "FusedDecoder", "12")},
    "gpu_chooser": {"on": Choice("kernels.sample", "KernelSampler", "12")},
    "tp_size": {"on": Choice("parallel.group", "launch", "13")},
}


def find(part: str, value: Any = None) -> Callable[..., Any]:
    """The factory for a value of a part; None takes the best that this tree has.

    Raises NotImplementedError naming the chapter when the value's module is not in this tree.
    """
    rows = CHOICES[part]
    if value is None:
        return [row for row in rows.values() if row.here][-1].load()
    require_here(part, value)
    return rows[value].load()


def require_here(part: str, value: Any) -> None:
    """Raise NotImplementedError naming the chapter when the module of a part's value is not in this tree."""
    row = CHOICES[part][value]
    if not row.here:
        raise NotImplementedError(f"{part}={value!r} comes with chapter {row.chapter}")
