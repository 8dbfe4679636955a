"""Attention through the page table, in plain torch. Chapter 04."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import NamedTuple, Protocol

import torch
import torch.nn.functional as F

from ..engine.inputs import upload
from ..engine.slots import StepInputs
from ..kvcache.pool import KVPool
from ..models.decoder import Attend


class AttentionBackend(Protocol):
    """Plans once a step; what it returns is called once a layer, stores that layer's K/V and attends."""

    def prepare(self, inputs: StepInputs) -> Attend:
        """Everything that is the same for all layers of this step is done here."""
        ...


class TorchPagedAttention:
    """The backend that runs anywhere: gathers keys and values page by page and leaves the rest to torch's attention.

    Decode rows are sorted by length and cut into groups of about four, each padded to its own longest: one padded call
    for all would read the longest request's worth of pages for everybody, one call a request would be all overhead.
    """

    def __init__(self, pool: KVPool) -> None:
        self.pool = pool
        self._scratch = pool.k.new_empty(2, 0, pool.page_size * pool.k.shape[2] * pool.k.shape[3])

    def prepare(self, inputs: StepInputs) -> Attend:
        """Choose the decode or the prefill form and precompute its indices."""
        if self.pool.page_size > 1:
            self._clean_tails(inputs)
        if inputs.last is None:
            return _DecodeStep(self.pool, inputs, self._room_for)
        return _PrefillStep(self.pool, inputs)

    def _clean_tails(self, inputs: StepInputs) -> None:
        """Zero what lies behind the new tokens in the last page of each entry that begins this page.

        A decode step reads whole pages and masks what is not there yet. The page's last owner may have left values
        there that are not numbers, and no mask makes a number of them: NaN plus -inf is NaN, and so is 0 times NaN.
        """
        size = self.pool.page_size
        ends = map(int.__add__, inputs.starts, inputs.lens)
        flat = accumulate(inputs.lens)
        begun = [
            at - 1
            for start, end, at in zip(inputs.starts, ends, flat, strict=True)
            if end % size and start <= end - end % size
        ]
        if begun:
            (at,) = upload(inputs.ids.device, begun)
            last = inputs.out_loc[at, None]
            offset = last % size
            offsets = torch.arange(size, device=last.device).maximum(offset + 1)
            tails = (last - offset + offsets).flatten()
            self.pool.k.index_fill_(1, tails, 0)
            self.pool.v.index_fill_(1, tails, 0)

    def _room_for(self, pages: int) -> torch.Tensor:
        """Room [2, at least `pages`, numbers a page] for gathered keys and values, the same for all layers and steps.

        Asking the system for fresh memory in every layer costs a CPU more than the gathering itself.
        """
        if self._scratch.shape[1] < pages:
            self._scratch = self._scratch.new_empty(2, 2 * pages, self._scratch.shape[2])
        return self._scratch


class _Group(NamedTuple):
    """Decode rows order[lo:hi], padded to `width` positions. pages: flat, row by row. bias: [hi - lo, 1, 1, width]."""

    lo: int
    hi: int
    width: int
    pages: torch.Tensor
    bias: torch.Tensor


class _DecodeStep:
    """One query a row, over all that the row has."""

    def __init__(self, pool: KVPool, inputs: StepInputs, room_for: Callable[[int], torch.Tensor]) -> None:
        self.pool, self.out_loc = pool, inputs.out_loc
        starts = inputs.starts
        by_length = sorted(range(len(starts)), key=starts.__getitem__)
        (self.order,) = upload(inputs.ids.device, by_length)
        count = max(1, len(starts) // 4)
        cuts = [i * len(starts) // count for i in range(count + 1)]
        longest = [starts[by_length[hi - 1]] + 1 for hi in cuts[1:]]
        self.groups = [self._group(inputs, lo, hi, n) for lo, hi, n in zip(cuts, cuts[1:], longest, strict=False)]
        self.keys, self.values = room_for(max(len(group.pages) for group in self.groups))

    def _group(self, inputs: StepInputs, lo: int, hi: int, longest: int) -> _Group:
        size, entries = self.pool.page_size, self.order[lo:hi]
        columns = -(-longest // size)
        valid = torch.arange(columns * size, device=entries.device) < inputs.kv_lens[entries, None]
        # the columns are cut before the rows are picked: the copy is as wide as the group, not as the context
        table = inputs.page_table[:, :columns].index_select(0, inputs.rows[entries])
        # a column beyond a row's length reads the row's own first page: never a page of somebody else
        pages = torch.where(valid[:, ::size], table, table[:, :1]).flatten()
        bias = torch.zeros(valid.shape, dtype=self.pool.k.dtype, device=entries.device)
        return _Group(lo, hi, columns * size, pages, bias.masked_fill_(~valid, float("-inf"))[:, None, None])

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        pool = self.pool
        pool.store(layer, self.out_loc, k, v)
        rows, heads, dim = q.shape
        kv_heads = k.shape[1]
        # query heads that share a K/V head take the place of query positions: nothing is repeated in memory
        queries = q.index_select(0, self.order).view(rows, kv_heads, heads // kv_heads, dim)
        out = torch.empty_like(q)
        for lo, hi, width, pages, bias in self.groups:
            keys, values = (
                torch.index_select(where[layer].view(-1, room.shape[1]), 0, pages, out=room[: len(pages)])
                .view(hi - lo, width, kv_heads, dim)
                .transpose(1, 2)
                for where, room in ((pool.k, self.keys), (pool.v, self.values))
            )
            part = F.scaled_dot_product_attention(queries[lo:hi], keys, values, attn_mask=bias)
            out.index_copy_(0, self.order[lo:hi], part.reshape(hi - lo, heads, dim))
        return out


class _PrefillStep:
    """Many queries an entry: one attention call each, long enough to be worth it."""

    def __init__(self, pool: KVPool, inputs: StepInputs) -> None:
        self.pool, self.inputs = pool, inputs
        size, device = pool.page_size, inputs.ids.device
        offsets = torch.arange(size, device=device)
        columns = -(-max(map(int.__add__, inputs.starts, inputs.lens)) // size)
        table = inputs.page_table[:, :columns].index_select(0, inputs.rows)
        self.slots = (table[:, :, None] * size + offsets).flatten(1)
        # the mask is aligned to the bottom right: query i of n sees the `start` cached positions and i + 1 new ones
        self.masks = [
            torch.ones(n, start + n, dtype=torch.bool, device=device).tril_(start) if start else None
            for start, n in zip(inputs.starts, inputs.lens, strict=True)
        ]

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        pool, at = self.pool, 0
        pool.store(layer, self.inputs.out_loc, k, v)
        out = torch.empty_like(q)
        for i, (start, n) in enumerate(zip(self.inputs.starts, self.inputs.lens, strict=True)):
            new = slice(at, at + n)
            keys, values = k[new], v[new]
            if start:
                slots = self.slots[i, : start + n]
                keys, values = pool.k[layer].index_select(0, slots), pool.v[layer].index_select(0, slots)
            part = F.scaled_dot_product_attention(
                q[new].transpose(0, 1)[None],
                keys.transpose(0, 1)[None],
                values.transpose(0, 1)[None],
                attn_mask=self.masks[i],
                is_causal=not start,
                enable_gqa=True,
            )
            out[new] = part[0].transpose(0, 1)
            at += n
        return out
