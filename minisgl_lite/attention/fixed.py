"""Decode attention in plain torch whose operations and shapes never change: what a graph can hold. Chapter 12."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F

from ..engine.inputs import upload
from ..engine.slots import StepInputs
from ..kvcache.pool import KVPool
from ..models.decoder import Attend


class FixedShapeAttention:
    """The PlannedAttention of one decode graph of `entries` entries, for any device. Simple, and no faster for it.

    Every entry reads a whole row of the page table, and a mask hides what lies beyond its length. What the host has to
    say, the lengths, it writes to a buffer that stays where it is and that the recorded mask reads, as FlashInfer's
    plan does.
    """

    def __init__(self, pool: KVPool, entries: int) -> None:
        self.pool = pool
        self.lens = torch.ones(entries, dtype=torch.int64, device=pool.k.device)

    def plan(self, starts: Sequence[int]) -> None:
        """The next step attends to positions 0 .. starts[i] of entry i."""
        self.lens.copy_(upload(self.lens.device, [start + 1 for start in starts])[0])

    def prepare(self, inputs: StepInputs) -> Attend:
        """Slots and mask of the step, the same for all layers; runs inside the graph."""
        pool, size, out_loc = self.pool, self.pool.page_size, inputs.out_loc
        table = inputs.page_table.index_select(0, inputs.rows)
        slots = (table[:, :, None] * size + torch.arange(size, device=table.device)).flatten(1)
        entries, width = slots.shape
        hidden = torch.arange(width, device=table.device) >= self.lens[:, None]
        # what is masked reads the entry's own first position: never a value of somebody else, which may be no number
        flat = torch.where(hidden, slots[:, :1], slots).flatten()
        bias = torch.zeros(entries, 1, 1, width, dtype=pool.k.dtype, device=table.device)
        bias.masked_fill_(hidden[:, None, None], float("-inf"))

        def attend(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            pool.store(layer, out_loc, k, v)
            _, heads, dim = q.shape
            kv_heads = k.shape[1]
            keys, values = (
                part[layer].index_select(0, flat).view(entries, width, kv_heads, dim).transpose(1, 2)
                for part in (pool.k, pool.v)
            )
            grouped = q.reshape(entries, kv_heads, heads // kv_heads, dim)
            return F.scaled_dot_product_attention(grouped, keys, values, attn_mask=bias).reshape(entries, heads, dim)

        return attend
