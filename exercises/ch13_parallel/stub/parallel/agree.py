"""Ranks that must do the same: rank 0's tokens for all, and a check that all plan the same batch. Chapter 13."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..core import Batch, InvariantError, SamplingParams
from ..engine.choose import Chooser
from ..kvcache.pages import OutOfPages
from ..scheduler.scheduler import Scheduler
from .comm import Communicator
from .links import Link


class SharedChoice:
    """A chooser for all ranks: rank 0 chooses, the others take what it has chosen.

    Logits are equal on all ranks, but a draw need not be, nor an argmax on another kind of device; ranks that feed
    different tokens to their parts of the model compute nonsense without a sign of it.
    """

    def __init__(self, chooser: Chooser, comm: Communicator) -> None:
        """chooser: asked on rank 0 only, but for `check`."""
        self.chooser, self.comm = chooser, comm

    def check(self, params: SamplingParams) -> None:
        """See Chooser."""
        self.chooser.check(params)

    def __call__(self, logits: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, ...]:
        """See Chooser. Other ranks than 0 return the ids alone."""
        if self.comm.rank:
            return (self.comm.broadcast(logits.new_empty(logits.shape[0], dtype=torch.int64)),)
        ids, *others = self.chooser(logits, batch)
        return (self.comm.broadcast(ids.contiguous()), *others)

    def read(self, batch: Batch, arrived: Sequence[torch.Tensor]) -> list[int]:
        """See Chooser."""
        if self.comm.rank:
            ids: list[int] = arrived[0].tolist()
            return ids
        return self.chooser.read(batch, arrived)


Plan = dict[str, Any]
"""A planned batch as plain values, in the order in which a reader would ask; see described."""


def described(batch: Batch | None) -> Plan:
    """All that a batch says but for the requests themselves."""
    if batch is None:
        return {"phase": None}
    rows, columns, pages = batch.new_pages
    return {
        "phase": batch.phase,
        "uids": batch.uids,
        "starts": batch.starts,
        "lens": batch.lens,
        "rows": batch.rows,
        "emits": batch.emits,
        "ids": batch.ids,
        "new pages' rows": rows,
        "new pages' columns": columns,
        "new pages": pages,
        "index": batch.index,
    }


def first_difference(plans: Sequence[Plan]) -> str:
    """Where the first rank's plan and that of another part, in words; "" when all are equal."""
    raise NotImplementedError("exercise 13.3: write the body of first_difference")


def _parting(mine: Any, theirs: Any, rank: int) -> str:
    raise NotImplementedError("exercise 13.3: helper _parting: not asked for, given when graded")


class AgreeingScheduler(Scheduler):
    """A scheduler that compares each plan with the other ranks', before anything is computed by it. For debugging.

    All ranks wait for one another in each round.
    """

    def __init__(self, link: Link, *parts: Any) -> None:
        """parts: as of Scheduler."""
        super().__init__(*parts)
        self._link = link

    def plan(self) -> Batch | None:
        """See Scheduler. Raises InvariantError, on every rank, naming the first difference."""
        raise NotImplementedError("exercise 13.3: write the body of AgreeingScheduler.plan")


def checked(link: Link) -> Callable[..., Scheduler]:
    """A factory of schedulers that compare their plans over `link`."""
    return lambda *parts: AgreeingScheduler(link, *parts)
