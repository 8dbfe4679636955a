"""From positions to places in the KV pool: page table, token pool and the inputs of one step. Chapter 04."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

from ..core import Batch
from .inputs import ragged, upload


class StepInputs(NamedTuple):
    """All that one forward pass is told. T new tokens of B entries, E of which sample.

    ids, positions, out_loc: [T] token ids, their positions, the slots that take their K/V.
    rows: [B] the row of page_table that lists an entry's pages; what lies beyond the entry's length is stale.
    page_table: the whole table, not a copy: it is read before the next step writes to it.
    kv_lens: [B] positions to attend to, new ones included. starts, lens: the same facts on the host, B integers each.
    last: [E] indices into T of the tokens whose logits are sampled; None means all T (a decode step).
    emit_rows, emit_cols: [E] where the sampled tokens go in the token pool.
    """

    ids: torch.Tensor
    positions: torch.Tensor
    out_loc: torch.Tensor
    rows: torch.Tensor
    page_table: torch.Tensor
    kv_lens: torch.Tensor
    starts: Sequence[int]
    lens: Sequence[int]
    last: torch.Tensor | None
    emit_rows: torch.Tensor
    emit_cols: torch.Tensor


class Tables:
    """The two tables that requests have a row in. Owned by the engine; rows are handed out by the TableManager.

    page_table: [rows, pages of max_seq_len] page number of each page-sized stretch of a request.
    token_pool: [rows, max_seq_len + 1] token at each position, as far as it is known. A sampled token is written here
    by the step that samples it and read here by the step that consumes it: the host need not know it in between.
    """

    def __init__(self, rows: int, max_seq_len: int, page_size: int, device: torch.device) -> None:
        self.page_size = page_size
        self.page_table = torch.zeros(rows, -(-max_seq_len // page_size), dtype=torch.int64, device=device)
        self.token_pool = torch.zeros(rows, max_seq_len + 1, dtype=torch.int64, device=device)

    def slots(self, rows: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Slots [N] of positions [N] of the requests in rows [N]."""
        if self.page_size == 1:
            return self.page_table[rows, positions]
        page = self.page_table[rows, positions // self.page_size]
        return page * self.page_size + positions % self.page_size

    def build(self, batch: Batch) -> StepInputs:
        """Write the batch's new page-table entries, then build its inputs: one upload, a fixed number of operations."""
        return self._decode(batch) if batch.phase == "decode" else self._prefill(batch)

    def _decode(self, batch: Batch) -> StepInputs:
        device = self.page_table.device
        if self.page_size == 1:
            # every position is a page of its own, so the new pages are the new slots
            rows, starts, out_loc = upload(device, batch.rows, batch.starts, batch.new_pages[2])
            self.page_table[rows, starts] = out_loc
        else:
            new_rows, cols, pages, rows, starts = upload(device, *batch.new_pages, batch.rows, batch.starts)
            if batch.new_pages[2]:
                self.page_table[new_rows, cols] = pages
            out_loc = self.slots(rows, starts)
        ends = starts + 1
        return StepInputs(
            ids=self.token_pool[rows, starts],
            positions=starts,
            out_loc=out_loc,
            rows=rows,
            page_table=self.page_table,
            kv_lens=ends,
            starts=batch.starts,
            lens=batch.lens,
            last=None,
            emit_rows=rows,
            emit_cols=ends,
        )

    def _prefill(self, batch: Batch) -> StepInputs:
        device, total = self.page_table.device, len(batch.ids)
        emits = range(len(batch.reqs)) if batch.emits is None else batch.emits
        new_rows, cols, pages, rows, starts, lens, ids, emit = upload(
            device, *batch.new_pages, batch.rows, batch.starts, batch.lens, batch.ids, emits
        )
        self.page_table[new_rows, cols] = pages
        layout = ragged(starts, lens, total)
        token_rows = rows[layout.entry]
        # no step needs these back (the host knows the prompt), but a row then reads as what it is: the request's tokens
        self.token_pool[token_rows, layout.positions] = ids
        kv_lens = starts + lens
        return StepInputs(
            ids=ids,
            positions=layout.positions,
            out_loc=self.slots(token_rows, layout.positions),
            rows=rows,
            page_table=self.page_table,
            kv_lens=kv_lens,
            starts=batch.starts,
            lens=batch.lens,
            last=layout.ends[emit] - 1,
            emit_rows=rows[emit],
            emit_cols=kv_lens[emit],
        )
