"""FlashInfer's decode attention inside a CUDA graph: buffers that never move, a plan before replays. Chapter 12."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from flashinfer import BatchDecodeWithPagedKVCacheWrapper
from flashinfer.decode import fast_decode_plan

from ..engine.slots import StepInputs
from ..kernels.pages import flatten_pages
from .flashinfer import FlashInferAttention, processors, uses_tensor_cores
from .layout import host_int32, page_layout
from .pieces import cuts_rows, most_pieces


class FlashInferGraphAttention:
    """The backend of one decode graph of `entries` entries.

    A graph repeats its kernels with the addresses that they had at capture. So page list, ends and last page lengths
    lie in buffers of this object, and the graph itself fills them from page table and positions. Only the plan comes
    from the host: `plan` is called before every replay, and before the first run; it does nothing where no row is cut.

    With as many entries as the planner makes pieces no row is cut, whatever the rows' lengths. Then the plan is the
    same for every step, there is nothing to merge, and nothing is to be done before a replay. FlashInfer in its graph
    mode may merge nevertheless, one piece a row, and ask for a workspace that grows with the entries.
    """

    def __init__(
        self, backend: FlashInferAttention, heads: int, dtype: torch.dtype, entries: int, indices: torch.Tensor
    ) -> None:
        """heads: query heads. dtype: of the queries. indices: room for all pages of all entries, int32; graphs may
        share it, as they run one after the other.
        """
        pool, device = backend.pool, backend.pool.k.device
        self.backend, self.indices = backend, indices
        self.ends = torch.zeros(entries + 1, dtype=torch.int32, device=device)
        self.last = torch.ones(entries, dtype=torch.int32, device=device)
        kv_heads, head_dim = pool.k.shape[2:]
        self._shape = (heads, kv_heads, head_dim, pool.page_size)
        self._dtypes = {"q_data_type": dtype, "kv_data_type": pool.k.dtype}
        self._fetched = torch.cuda.Event()  # type: ignore[no-untyped-call]
        group, pieces = heads // kv_heads, most_pieces(kv_heads, processors(device))
        tensor_cores = uses_tensor_cores(group, entries)
        self._whole = tensor_cores and not cuts_rows(entries, group, head_dim, pieces)
        self._wrapper = self._whole_rows(heads) if self._whole else self._cut_rows(heads, tensor_cores)
        self._planned = False

    def _cut_rows(self, heads: int, tensor_cores: bool) -> BatchDecodeWithPagedKVCacheWrapper:
        return self.backend.new_wrapper(
            heads,
            tensor_cores,
            use_cuda_graph=True,
            paged_kv_indptr_buffer=self.ends,
            paged_kv_indices_buffer=self.indices,
            paged_kv_last_page_len_buffer=self.last,
        )

    def _whole_rows(self, heads: int) -> BatchDecodeWithPagedKVCacheWrapper:
        """Planned for good: a wrapper without graph mode keeps the tensors that it was planned with, if they are on
        its device.
        """
        wrapper = self.backend.new_wrapper(heads, tensor_cores=True)
        torch.arange(len(self.ends), out=self.ends)
        wrapper.plan(self.ends, self.indices, self.last, *self._shape, **self._dtypes, disable_split_kv=True)
        return wrapper

    def plan(self, starts: Sequence[int]) -> None:
        """Tell the kernels which entry has how many pages: entry i attends to positions 0 .. starts[i]."""
        if self._whole:
            return
        layout = page_layout(starts, [1] * len(starts), self.backend.pool.page_size)
        ends, last = host_int32(layout.ends), host_int32(layout.last)
        self._fetched.synchronize()
        if self._planned:
            # plans anew without a word about buffers and kernels, which stay what the first plan made them
            fast_decode_plan(
                self._wrapper,
                ends,
                self.indices[:0],
                last,
                *self._shape,
                **self._dtypes,
                global_override_indptr_cpu=ends,
            )
        else:
            self._wrapper.plan(ends, self.indices[:0], last, *self._shape, **self._dtypes)
            self._planned = True
        self._fetched.record()

    def prepare(self, inputs: StepInputs) -> FlashInferGraphStep:
        """In the graph: fill the buffers for a decode step."""
        size = self.backend.pool.page_size
        counts = (inputs.kv_lens + (size - 1)) // size
        torch.cumsum(counts, 0, out=self.ends[1:])
        if size > 1:
            self.last.copy_(inputs.positions % size + 1)
        flatten_pages(inputs.page_table, inputs.rows, inputs.kv_lens, size, self.ends, self.indices)
        return FlashInferGraphStep(self, inputs.out_loc)

    def run(self, layer: int, q: torch.Tensor) -> torch.Tensor:
        """q [entries, heads, head_dim] over the pool."""
        out: torch.Tensor = self._wrapper.run(q, self.backend.layers[layer])
        return out


class FlashInferGraphStep:
    """`attend` of one graph."""

    def __init__(self, attention: FlashInferGraphAttention, out_loc: torch.Tensor) -> None:
        self.attention, self.out_loc = attention, out_loc

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """See Attend."""
        self.attention.backend.pool.store(layer, self.out_loc, k, v)
        return self.over_pool(layer, q)

    def over_pool(self, layer: int, q: torch.Tensor) -> torch.Tensor:
        """See FlashInferStep."""
        return self.attention.run(layer, q)
