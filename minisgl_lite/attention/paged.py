"""Attention through the page table, in plain torch. Chapter 04."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, pairwise
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
    """Decode rows that are padded to the same width: where their pages are, and where they are gathered.

    entries: [R] of the batch. pages: [R * columns], row by row. bias: [R, 1, 1, width], 0 or -inf.
    gathered: keys and values, twice [R * columns, numbers a page]; as attention sees them, [R, kv_heads, width, dim].
    """

    entries: torch.Tensor
    pages: torch.Tensor
    bias: torch.Tensor
    gathered: torch.Tensor
    keys: torch.Tensor
    values: torch.Tensor


class _DecodeStep:
    """One query a row, over all that the row has."""

    def __init__(self, pool: KVPool, inputs: StepInputs, room_for: Callable[[int], torch.Tensor]) -> None:
        self.pool, self.out_loc = pool, inputs.out_loc
        starts = inputs.starts
        by_length = sorted(range(len(starts)), key=starts.__getitem__)
        (order,) = upload(inputs.ids.device, by_length)
        count = max(1, len(starts) // 4)
        cuts = [i * len(starts) // count for i in range(count + 1)]
        # the longest row of a group is its last
        widths = [starts[by_length[hi - 1]] // pool.page_size + 1 for hi in cuts[1:]]
        room = room_for(max((hi - lo) * columns for (lo, hi), columns in zip(pairwise(cuts), widths, strict=True)))
        self.groups = [
            self._group(inputs, order[lo:hi], columns, room)
            for (lo, hi), columns in zip(pairwise(cuts), widths, strict=True)
        ]

    def _group(self, inputs: StepInputs, entries: torch.Tensor, columns: int, room: torch.Tensor) -> _Group:
        size, (kv_heads, dim) = self.pool.page_size, self.pool.k.shape[2:]
        valid = torch.arange(columns * size, device=entries.device) < inputs.kv_lens[entries, None]
        # the columns are cut before the rows are picked: the copy is as wide as the group, not as the context
        table = inputs.page_table[:, :columns].index_select(0, inputs.rows[entries])
        # a column beyond a row's length reads the row's own first page: never a page of somebody else
        pages = torch.where(valid[:, ::size], table, table[:, :1]).flatten()
        bias = torch.zeros(valid.shape, dtype=self.pool.k.dtype, device=entries.device)
        bias = bias.masked_fill_(~valid, float("-inf"))[:, None, None]
        gathered = room[:, : len(pages)]
        keys, values = gathered.view(2, len(entries), columns * size, kv_heads, dim).transpose(2, 3)
        return _Group(entries, pages, bias, gathered, keys, values)

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        pool = self.pool
        pool.store(layer, self.out_loc, k, v)
        rows, heads, dim = q.shape
        kv_heads = k.shape[1]
        stored = [where[layer].view(-1, pool.page_size * kv_heads * dim) for where in (pool.k, pool.v)]
        # query heads that share a K/V head take the place of query positions: nothing is repeated in memory
        queries = q.view(rows, kv_heads, heads // kv_heads, dim)
        out = q.new_empty(queries.shape)
        for group in self.groups:
            for pages, room in zip(stored, group.gathered, strict=True):
                torch.index_select(pages, 0, group.pages, out=room)
            query = queries.index_select(0, group.entries)
            part = F.scaled_dot_product_attention(query, group.keys, group.values, attn_mask=group.bias)
            out.index_copy_(0, group.entries, part)
        return out.view(rows, heads, dim)


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
