"""The Engine: a planned batch becomes tokens. Chapter 05."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from ..attention.paged import AttentionBackend
from ..core import Batch, Req, require
from ..kvcache.pool import KVPool
from ..models.decoder import CausalLM
from .choose import Chooser
from .slots import Tables


class ForwardOutput:
    """Sampled ids [E] that are, or will be, on the device."""

    def __init__(self, ids: torch.Tensor) -> None:
        self._ids = ids

    def tokens(self) -> list[int]:
        """Wait for the step and return its tokens."""
        ids: list[int] = self._ids.tolist()
        return ids


class Engine:
    """Owns every tensor: weights, KV pool, page table, token pool. Decides nothing: it does what a batch says."""

    def __init__(
        self,
        decoder: CausalLM,
        pool: KVPool,
        tables: Tables,
        attention: AttentionBackend,
        choose: Chooser,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.decoder, self.pool, self.tables = decoder, pool, tables
        self.attention, self.choose, self.now = attention, choose, clock

    @torch.inference_mode()
    def forward_batch(self, batch: Batch) -> ForwardOutput:
        """Build the inputs, run the model, choose tokens and leave them in the token pool for the next step."""
        inputs = self.tables.build(batch)
        hidden = self.decoder.forward(inputs.ids, inputs.positions, self.attention.prepare(inputs))
        if inputs.last is not None:
            hidden = hidden[inputs.last]
        ids = self.choose(self.decoder.logits(hidden), batch)
        self.tables.token_pool[inputs.emit_rows, inputs.emit_cols] = ids
        return ForwardOutput(ids)

    def check(self, accounts: dict[int, Req]) -> None:
        """Raise InvariantError unless the page table says what the accounts say. Reads the device: for tests."""
        for req in accounts.values():
            if req.last_launch:
                row = self.tables.page_table[req.row, : len(req.pages)].tolist()
                require(row == req.pages, f"request {req.uid}: the page table has {row}, its account {req.pages}")
