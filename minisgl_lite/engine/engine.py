"""The Engine: a planned batch becomes tokens. Chapter 05."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import torch

from ..attention.paged import AttentionBackend
from ..core import Batch, Req, require
from ..kvcache.pool import KVPool
from ..models.decoder import CausalLM
from .choose import Chooser
from .slots import Tables

Fetch = Callable[[Sequence[torch.Tensor]], Callable[[], Sequence[torch.Tensor]]]
"""Called at launch with tensors that are, or will be, on the device; what it returns waits for them, on the host."""


def fetch_in_order(tensors: Sequence[torch.Tensor]) -> Callable[[], Sequence[torch.Tensor]]:
    """The plain Fetch: copy when the host asks. On a GPU that waits for everything launched so far."""
    return lambda: [tensor.cpu() for tensor in tensors]


class ForwardOutput:
    """What a launched batch will say: see Output."""

    def __init__(self, batch: Batch, wait: Callable[[], Sequence[torch.Tensor]], chooser: Chooser) -> None:
        self._batch, self._wait, self._chooser = batch, wait, chooser

    def tokens(self) -> list[int]:
        """Wait for the step and return its tokens. To be called once."""
        return self._chooser.read(self._batch, self._wait())


class Engine:
    """Owns every tensor: weights, KV pool, page table, token pool. Decides nothing: it does what a batch says."""

    def __init__(
        self,
        decoder: CausalLM,
        pool: KVPool,
        tables: Tables,
        attention: AttentionBackend,
        choose: Chooser,
        fetch: Fetch = fetch_in_order,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.decoder, self.pool, self.tables = decoder, pool, tables
        self.attention, self.choose, self.fetch, self.now = attention, choose, fetch, clock

    @torch.inference_mode()
    def forward_batch(self, batch: Batch) -> ForwardOutput:
        """Build the inputs, run the model, choose tokens and leave them in the token pool for the next step."""
        inputs = self.tables.build(batch)
        hidden = self.decoder.forward(inputs.ids, inputs.positions, self.attention.prepare(inputs))
        if inputs.last is not None:
            hidden = hidden[inputs.last]
        return self.choose_from(batch, self.decoder.logits(hidden), inputs.emit_rows, inputs.emit_cols)

    def choose_from(
        self, batch: Batch, logits: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor
    ) -> ForwardOutput:
        """The end of a launch: a token for each row of logits [E, vocab], left at rows, columns of the token pool."""
        chosen = self.choose(logits, batch)
        # the next step may be launched before the host learns that an entry has no token: it then reads token 0
        self.tables.token_pool[rows, columns] = chosen[0].clamp(min=0)
        return ForwardOutput(batch, self.fetch(chosen), self.choose)

    def check(self, accounts: dict[int, Req]) -> None:
        """Raise InvariantError unless the page table says what the accounts say. Reads the device: for tests."""
        for req in accounts.values():
            if req.last_launch:
                row = self.tables.page_table[req.row, : len(req.pages)].tolist()
                require(row == req.pages, f"request {req.uid}: the page table has {row}, its account {req.pages}")
