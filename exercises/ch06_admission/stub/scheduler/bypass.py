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
        raise NotImplementedError("exercise 06.3: write the body of BypassPrefillManager.discard")

    def placed(self, req: Req, n: int) -> None:
        """See PrefillManager. It waits no longer, so its count is forgotten."""
        raise NotImplementedError("exercise 06.3: write the body of BypassPrefillManager.placed")

    def schedule_next_batch(self) -> Batch | None:
        """As many requests as fit, in order, the bound kept; None when none fits.

        Gives up after bound + 1 refusals, so that a round does not search a long queue from end to end.
        """
        raise NotImplementedError("exercise 06.3: write the body of BypassPrefillManager.schedule_next_batch")
