"""BypassPrefillManager: who does not fit may be overtaken, but only so often. Chapter 06."""

from __future__ import annotations

from collections.abc import Callable

from ..core import Batch, Req
from .prefill import PrefillAdder, PrefillManager
from .table import TableManager


class BypassPrefillManager(PrefillManager):
    """First come, first served, but while a request does not fit, up to `bound` later ones may start before it.

    A request that has been overtaken `bound` times closes the queue behind it until it fits. What runs comes to an end,
    so it does: nobody waits for ever. With `bound` 0 nobody is overtaken.
    """

    def __init__(self, table: TableManager, new_adder: Callable[[], PrefillAdder], bound: int = 8) -> None:
        """`bound`: at least 0."""
        super().__init__(table, new_adder)
        if bound < 0:
            raise ValueError(f"bound is {bound}; it must be at least 0")
        self.bound = bound
        self.overtaken: dict[int, int] = {}
        """uid of a waiting request -> how many later ones have started before it; one that is not here: none."""

    def discard(self, req: Req) -> None:
        """Forget a request, and how often it was overtaken."""
        super().discard(req)
        self.overtaken.pop(req.uid, None)

    def placed(self, req: Req, n: int) -> None:
        """See PrefillManager. It waits no longer, so its count is forgotten."""
        super().placed(req, n)
        self.overtaken.pop(req.uid, None)

    def schedule_next_batch(self) -> Batch | None:
        """As many requests as fit, in order, the bound kept; None when none fits.

        Gives up after bound + 1 refusals, so that a round does not search a long queue from end to end.
        """
        if not self.runnable:
            return None
        adder, batch = self.new_adder(), Batch("prefill")
        refused: list[Req] = []
        for req in self.pending.values():
            if n := adder.try_add(req):
                batch.add(req, n)
                for other in refused:
                    self.overtaken[other.uid] = self.overtaken.get(other.uid, 0) + 1
            else:
                refused.append(req)
            # whoever overtakes one of them overtakes all before it too: the first has the highest count
            if refused and (len(refused) > self.bound or self.overtaken.get(refused[0].uid, 0) >= self.bound):
                break
        for req, n in zip(batch.reqs, batch.lens, strict=True):
            self.placed(req, n)
        return batch if batch.reqs else None
