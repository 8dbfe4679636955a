"""Attention over a page layout in plain torch, as paged kernels do it: in pieces, then merged. Chapter 11."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

from ..engine.slots import StepInputs
from ..kvcache.pool import KVPool
from .layout import page_indices, page_layout


class Partial(NamedTuple):
    """What N queries take from some of their keys, in float32.

    out: [N, H, D] attention over these keys alone. lse: [N, H] the logarithm of the sum of exp(score) over them: how
    much they weigh beside other keys. A query that sees none of them has out 0 and lse -inf: they weigh nothing.
    """

    out: torch.Tensor
    lse: torch.Tensor


class Piece(NamedTuple):
    """Pages first .. end - 1 of the flat list, all of one entry: what one block of threads reads."""

    entry: int
    first: int
    end: int


def partial_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, seen: torch.Tensor) -> Partial:
    """Attention of q [N, H, D] over k, v [S, KV, D], where query i sees the first seen[i] keys, [N], 0 .. S.

    Neighbouring query heads share a KV head: head h uses h // (H / KV). Computed in float32 whatever the inputs are.
    """
    raise NotImplementedError("exercise 11.3: write the body of partial_attention")


def merge(parts: Sequence[Partial]) -> Partial:
    """The result over all keys, from results over parts of them that have no key in common; at least one part."""
    raise NotImplementedError("exercise 11.3: write the body of merge")


def piece_pages(counts: Sequence[int], blocks: int) -> int:
    """The fewest pages a piece may have so that there are no more pieces than blocks: at least 1.

    With more entries than blocks no number is enough; then entries stay whole.
    """
    low, high = 1, max(counts)
    while low < high:
        middle = (low + high) // 2
        if sum(-(-count // middle) for count in counts) <= blocks:
            high = middle
        else:
            low = middle + 1
    return low


def cut(counts: Sequence[int], ends: Sequence[int], blocks: int) -> list[Piece]:
    """The plan: the pages of each entry in pieces of `piece_pages` pages; an entry's last piece may be shorter."""
    most = piece_pages(counts, blocks)
    return [
        Piece(entry, first, min(first + most, ends[entry + 1]))
        for entry in range(len(counts))
        for first in range(ends[entry], ends[entry + 1], most)
    ]


class SplitAttention:
    """The backend that shows what a paged kernel does: plans once a step, runs once a layer, reads no page twice.

    Slow: every piece is a handful of operations here, and a block of threads there. It reads nothing but the valid
    positions of an entry's pages. An oracle for faster backends.
    """

    def __init__(self, pool: KVPool, blocks: int = 16) -> None:
        self.pool, self.blocks = pool, blocks

    def prepare(self, inputs: StepInputs) -> SplitStep:
        """Lay out the step's pages and cut the work."""
        layout = page_layout(inputs.starts, inputs.lens, self.pool.page_size)
        indices = page_indices(inputs, layout.counts)
        return SplitStep(self.pool, inputs, indices, cut(layout.counts, layout.ends, self.blocks), layout.ends)


class SplitStep:
    """`attend` for one step."""

    def __init__(
        self, pool: KVPool, inputs: StepInputs, indices: torch.Tensor, pieces: list[Piece], ends: Sequence[int]
    ) -> None:
        self.pool, self.inputs, self.indices, self.pieces, self.ends = pool, inputs, indices, pieces, ends

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """See Attend."""
        self.pool.store(layer, self.inputs.out_loc, k, v)
        queries = torch.split(q, list(self.inputs.lens))
        parts: list[list[Partial]] = [[] for _ in queries]
        for piece in self.pieces:
            parts[piece.entry].append(self._read(layer, piece, queries[piece.entry]))
        return torch.cat([merge(mine).out for mine in parts]).to(q.dtype)

    def _read(self, layer: int, piece: Piece, q: torch.Tensor) -> Partial:
        """One piece: the pages in the flat list say where its keys are."""
        size, start = self.pool.page_size, self.inputs.starts[piece.entry]
        first = (piece.first - self.ends[piece.entry]) * size
        valid = min((piece.end - piece.first) * size, start + len(q) - first)
        offsets = torch.arange(size, device=q.device)
        slots = (self.indices[piece.first : piece.end, None] * size + offsets).flatten()[:valid]
        # query i is at position start + i and sees the keys up to its own; of this piece maybe none
        seen = (torch.arange(len(q), device=q.device) + start + 1 - first).clamp(0, valid)
        return partial_attention(q, self.pool.k[layer][slots], self.pool.v[layer][slots], seen)
