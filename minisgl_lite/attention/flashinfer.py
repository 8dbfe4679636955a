"""Attention by FlashInfer's kernels, straight from the paged pool. CUDA only. Chapter 11."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, Protocol

import torch
from flashinfer import BatchDecodeWithPagedKVCacheWrapper, BatchPrefillWithPagedKVCacheWrapper

from ..engine.slots import StepInputs
from ..kvcache.pool import KVPool
from .layout import host_int32, page_indices, page_layout
from .pieces import workspace_bytes


class Wrapper(Protocol):
    """What this module uses of FlashInfer's two wrappers."""

    def plan(self, *args: Any, **options: Any) -> None:
        """Divide a step's work among the GPU's processors."""
        ...

    def run(self, q: torch.Tensor, kv: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """One layer's attention."""
        ...


class FlashInferAttention:
    """Plans once a step, on the host; runs once a layer. A plan says which part of which request each block of threads
    reads, so that long and short requests finish together.

    FlashInfer writes a plan to a pinned buffer and starts its copy to the device. The buffer is the same for every
    step, so before the next plan is written there the copy of the last one must be over: `_fetched` is the event
    behind it. With overlap the copy may stand in line behind a whole forward pass.
    """

    def __init__(self, pool: KVPool) -> None:
        """Makes the pool's GPU the current one: Triton launches its kernels there, wherever their tensors are."""
        torch.cuda.set_device(pool.k.device)
        self.pool = pool
        self.layers = list(zip(*(in_pages(part, pool.page_size).unbind(0) for part in (pool.k, pool.v)), strict=True))
        self._decode: dict[bool, BatchDecodeWithPagedKVCacheWrapper] = {}
        self._prefill: BatchPrefillWithPagedKVCacheWrapper | None = None
        self._workspace: torch.Tensor | None = None
        self._fetched = torch.cuda.Event()  # type: ignore[no-untyped-call]

    def prepare(self, inputs: StepInputs) -> FlashInferStep:
        """Where the step's pages are; the plan itself waits for the first layer, which knows the number of heads."""
        return FlashInferStep(self, inputs)

    def plan(self, inputs: StepInputs, heads: int, dtype: torch.dtype) -> Wrapper:
        """Plan a step of `heads` query heads and return the wrapper that runs it."""
        size, kv_heads, head_dim = self.pool.page_size, *self.pool.k.shape[2:]
        layout = page_layout(inputs.starts, inputs.lens, size)
        counts, ends, last = layout.counts, host_int32(layout.ends), host_int32(layout.last)
        indices = page_indices(inputs, counts)
        shape = (heads, kv_heads, head_dim, size)
        dtypes = {"q_data_type": dtype, "kv_data_type": self.pool.k.dtype}
        self._fetched.synchronize()
        wrapper: Wrapper
        if inputs.last is None:
            wrapper = self._decode_wrapper(uses_tensor_cores(heads // kv_heads, len(counts)), heads)
            wrapper.plan(ends, indices, last, *shape, **dtypes)
        else:
            wrapper = self._prefill_wrapper(heads)
            queries = host_int32([0, *accumulate(inputs.lens)])
            wrapper.plan(queries, ends, indices, last, *shape, causal=True, **dtypes)
        self._fetched.record()
        return wrapper

    def workspace(self, heads: int) -> torch.Tensor:
        """The memory for partial results of `heads` query heads, uint8; made when it is first asked for. All wrappers
        share it: they run one after the other.
        """
        if self._workspace is None:
            (kv_heads, head_dim), device = self.pool.k.shape[2:], self.pool.k.device
            needed = workspace_bytes(heads, kv_heads, head_dim, processors(device))
            self._workspace = torch.zeros(needed, dtype=torch.uint8, device=device)
        return self._workspace

    def new_wrapper(self, heads: int, tensor_cores: bool, **options: Any) -> BatchDecodeWithPagedKVCacheWrapper:
        """A wrapper for decode steps. Its backend is named: left to themselves, some versions of FlashInfer take others
        on some GPUs, whose plans cut rows in other ways and need other room.
        """
        return BatchDecodeWithPagedKVCacheWrapper(
            self.workspace(heads), use_tensor_cores=tensor_cores, backend="fa2", **options
        )

    def _decode_wrapper(self, tensor_cores: bool, heads: int) -> BatchDecodeWithPagedKVCacheWrapper:
        if tensor_cores not in self._decode:
            self._decode[tensor_cores] = self.new_wrapper(heads, tensor_cores)
        return self._decode[tensor_cores]

    def _prefill_wrapper(self, heads: int) -> BatchPrefillWithPagedKVCacheWrapper:
        if self._prefill is None:
            self._prefill = BatchPrefillWithPagedKVCacheWrapper(self.workspace(heads), backend="fa2")
        return self._prefill


class FlashInferStep:
    """`attend` for one step."""

    def __init__(self, backend: FlashInferAttention, inputs: StepInputs) -> None:
        self.backend, self.inputs = backend, inputs
        self.out_loc = inputs.out_loc
        self._wrapper: Wrapper | None = None

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """See Attend."""
        self.backend.pool.store(layer, self.out_loc, k, v)
        return self.over_pool(layer, q)

    def over_pool(self, layer: int, q: torch.Tensor) -> torch.Tensor:
        """q [T, heads, head_dim] over what the pool has, this step's own keys and values included."""
        if self._wrapper is None:
            self._wrapper = self.backend.plan(self.inputs, q.shape[1], q.dtype)
        return self._wrapper.run(q, self.backend.layers[layer])


def in_pages(part: torch.Tensor, page_size: int) -> torch.Tensor:
    """[layers, slots, kv_heads, head_dim] of a pool as [layers, pages, page_size, kv_heads, head_dim], a view."""
    return part.view(part.shape[0], -1, page_size, *part.shape[2:])


def processors(device: torch.device) -> int:
    """Streaming multiprocessors of a GPU."""
    count: int = torch.cuda.get_device_properties(device).multi_processor_count
    return count


def uses_tensor_cores(group: int, entries: int) -> bool:
    """Whether a decode step is faster on tensor cores, for `group` query heads that share a KV head.

    A matrix product needs rows, and the heads of a group are the only ones that share keys: two of them leave most of
    it empty. That costs a small batch time. In a large one reading the keys takes longer than either way of
    multiplying, and the kernel for tensor cores reads them faster: equally fast at 64 entries, 2 to
    26% faster from 96 on, on an H200.
    """
    return group >= 4 or entries > 64
