"""Decode steps as CUDA graphs: a step's kernels are recorded once and launched with one call. Chapter 12."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import torch

from ..attention.paged import AttentionBackend
from ..core import Batch
from .buckets import bucket_for, pad
from .engine import Engine, ForwardOutput
from .inputs import upload
from .slots import StepInputs


class PlannedAttention(AttentionBackend, Protocol):
    """A backend whose `prepare` runs inside a graph; what the host has to say is said before each replay."""

    def plan(self, starts: Sequence[int]) -> None:
        """The next decode step attends to positions 0 .. starts[i] of entry i."""
        ...


Capture = Callable[[Callable[[], None]], Callable[[], None]]
"""Records the work that a function launches; what it returns launches it again. A plain function does as a fake."""


class DecodeGraph:
    """One recorded decode step, for batches of exactly `size` entries.

    A recorded kernel finds its inputs and outputs where they were at capture. So what differs from step to step is
    copied into `_entries` before a replay, and the logits always come out in the same place: read them before the next
    replay. Everything between is memory of the graph's own pool.
    """

    def __init__(self, engine: Engine, attention: PlannedAttention, size: int, capture: Capture) -> None:
        self.size = size
        self._engine, self._attention = engine, attention
        self._entries = torch.zeros(3, size, dtype=torch.int64, device=engine.pool.k.device)
        attention.plan([0] * size)
        self._launch = capture(self._step)

    def _step(self) -> None:
        tables, decoder = self._engine.tables, self._engine.decoder
        rows, starts, pages = self._entries
        size, ends = tables.page_size, starts + 1
        if size == 1:
            columns, slots = starts, pages
        else:
            columns, slots = starts // size, pages * size + starts % size
        # an entry whose page is not new has it written once more: all steps then do the same
        tables.page_table[rows, columns] = pages
        inputs = StepInputs(
            ids=tables.token_pool[rows, starts],
            positions=starts,
            out_loc=slots,
            rows=rows,
            page_table=tables.page_table,
            kv_lens=ends,
            starts=(),
            lens=(),
            last=None,
            emit_rows=rows,
            emit_cols=ends,
        )
        hidden = decoder.forward(inputs.ids, starts, self._attention.prepare(inputs))
        self.logits, self.rows, self.ends = decoder.logits(hidden), rows, ends

    def run(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Launch the step of a batch: logits [B, vocab], then row and column that the tokens go to, [B] each."""
        raise NotImplementedError("exercise 12.3: write the body of DecodeGraph.run")


class GraphRunner:
    """A Runner: decode batches that fit a graph go there, all others to the engine that it wraps.

    The only place that knows about padding: no scheduler, pool or table does.
    """

    def __init__(self, engine: Engine, graphs: Iterable[DecodeGraph]) -> None:
        self.engine = engine
        self.graphs = {graph.size: graph for graph in graphs}
        self._sizes = sorted(self.graphs)

    @torch.inference_mode()
    def forward_batch(self, batch: Batch) -> ForwardOutput:
        """See Engine."""
        raise NotImplementedError("exercise 12.3: write the body of GraphRunner.forward_batch")

    def close(self) -> None:
        """Forget the graphs: every batch goes to the engine from now on. What they recorded can then be torn down."""
        self.graphs.clear()
        self._sizes.clear()

    def now(self) -> float:
        """See Runner."""
        return self.engine.now()
