"""Chunked prefill: a prompt longer than what a round may compute is computed in several rounds. Chapter 07."""

from __future__ import annotations

from collections.abc import Callable

from ..core import Req
from .admission import AdmittingAdder
from .prefill import PrefillAdder, PrefillManager
from .table import TableManager


class ChunkedAdder(AdmittingAdder):
    """Shares the round's budget out, token by token: the last request that it reaches gets a piece.

    Pages and row are decided once, when the first piece starts: the whole need up to `limit` is promised then. Later
    pieces cannot be refused, so a prompt that is half-way never waits for memory.
    """

    def fits_budget(self, n: int) -> bool:
        """A piece of any prompt fits while there is budget left."""
        raise NotImplementedError("exercise 07.1: write the body of ChunkedAdder.fits_budget")

    def try_add(self, req: Req) -> int:
        """Admit `req`, or go on with it when it is admitted already; see PrefillAdder.

        Returns the tokens of it that this round computes: what is missing of its prompt, at most what is left of the
        budget.
        """
        raise NotImplementedError("exercise 07.1: write the body of ChunkedAdder.try_add")


class ChunkedPrefillManager(PrefillManager):
    """First come, first served, with a prompt that is half-way before all others.

    At most one is half-way: a piece smaller than what is missing is what was left of the budget, so nobody follows it
    in that round, and it goes first in the next.
    """

    def __init__(self, table: TableManager, new_adder: Callable[[], PrefillAdder]) -> None:
        super().__init__(table, new_adder)
        self.chunking: Req | None = None
        """The request whose prompt is computed in part. It has left `pending`: it has a row and pages."""

    def head(self) -> Req | None:
        """The prompt that is half-way, else the request that has waited longest."""
        raise NotImplementedError("exercise 07.2: write the body of ChunkedPrefillManager.head")

    def placed(self, req: Req, n: int) -> None:
        """See PrefillManager. Computing all that is missing ends its turn."""
        raise NotImplementedError("exercise 07.2: write the body of ChunkedPrefillManager.placed")

    def discard(self, req: Req) -> None:
        """Forget a request, queued or half-way."""
        raise NotImplementedError("exercise 07.2: write the body of ChunkedPrefillManager.discard")

    @property
    def runnable(self) -> bool:
        """A prompt that is half-way needs no free row: it has one."""
        raise NotImplementedError("exercise 07.2: write the body of ChunkedPrefillManager.runnable")
