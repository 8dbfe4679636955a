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
    for rank, plan in enumerate(plans):
        for name, mine in plans[0].items():
            theirs = plan.get(name)
            if theirs != mine:
                return f"{name}{_parting(mine, theirs, rank)}"
    return ""


def _parting(mine: Any, theirs: Any, rank: int) -> str:
    if not isinstance(mine, list) or not isinstance(theirs, list):
        return f" is {mine} on rank 0 and {theirs} on rank {rank}"
    at = next((i for i, pair in enumerate(zip(mine, theirs, strict=False)) if pair[0] != pair[1]), None)
    if at is None:
        return f" has {len(mine)} entries on rank 0 and {len(theirs)} on rank {rank}"
    return f"[{at}] is {mine[at]} on rank 0 and {theirs[at]} on rank {rank}"


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
        batch: Batch | None = None
        starved: OutOfPages | None = None
        try:
            batch = super().plan()
        except OutOfPages as error:
            starved = error
        mine = described(batch) if starved is None else {"phase": str(starved)}
        found = self._link.exchange(mine, first_difference)
        if found:
            raise InvariantError(f"round {self.launched}: the ranks have planned different batches: {found}")
        if starved is not None:
            raise starved
        return batch


def checked(link: Link) -> Callable[..., Scheduler]:
    """A factory of schedulers that compare their plans over `link`."""
    return lambda *parts: AgreeingScheduler(link, *parts)
