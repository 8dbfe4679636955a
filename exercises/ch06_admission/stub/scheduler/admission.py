"""Admission control: a request starts only when all that it may ever need can be promised to it. Chapter 06."""

from __future__ import annotations

from ..core import Req
from .cache import CacheManager
from .prefill import PrefillAdder
from .table import TableManager


class AdmittingAdder(PrefillAdder):
    """Counts what was promised, not only what is taken: once admitted, a request can always run to its limit.

    A request is promised pages_for(limit) pages. What it does not hold of them yet is spoken for:

        all pages |   held by running requests   | promised to them, not taken yet |  room for the next one  |
                  |<-------- sum of pages_for(limit) over the running ---------->|

    Promises are added up afresh each round, so no counter can drift: a request that ends early, by a stop or an abort,
    is simply not there any more. In the decode rounds between, a page that moves from promised to held changes nothing.
    """

    def __init__(self, table: TableManager, cache: CacheManager, budget: int) -> None:
        """`budget`: prompt tokens that this round may compute."""
        raise NotImplementedError("exercise 06.1: write the body of AdmittingAdder.__init__")

    def need(self, req: Req) -> int:
        """Pages that an opened request may still ask for: those up to `limit`, less those that it holds."""
        raise NotImplementedError("exercise 06.1: write the body of AdmittingAdder.need")
