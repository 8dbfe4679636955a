"""PrefillManager and PrefillAdder: the waiting queue and what fits into this round. Chapter 05."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from ..core import Batch, Req
from .cache import CacheManager
from .table import TableManager


class PrefillAdder:
    """Decides, for one round, whether a request starts and how many of its tokens are computed.

    It answers "does it fit?"; who is asked next is the PrefillManager's business. Three things must fit: a row of the
    table, pages, and the round's token budget. A prompt longer than the whole budget runs alone in its round.
    """

    def __init__(self, table: TableManager, cache: CacheManager, budget: int) -> None:
        """`budget`: prompt tokens that this round may compute."""
        self.table, self.cache, self.budget = table, cache, budget
        self.tokens = 0
        """Tokens that this round computes so far."""
        self.reserved = 0
        """Pages that this round speaks for and that are not handed out yet."""

    def need(self, req: Req) -> int:
        """Pages that an opened request must still be able to get before it may start. Here: those of its prompt."""
        return self.cache.allocator.pages_for(req.prompt_len) - len(req.pages)

    def room(self) -> int:
        """Pages that nobody has spoken for."""
        return self.cache.room() - self.reserved

    def fits_budget(self, n: int) -> bool:
        """Whether n more tokens may be computed this round."""
        return self.tokens == 0 or self.tokens + n <= self.budget

    def try_add(self, req: Req) -> int:
        """Admit `req`: open its account, give it a row, reserve what it needs.

        Returns the tokens of it that this round computes. Returns 0 when it does not fit; then nothing has changed.
        """
        raise NotImplementedError("exercise 05.1: write the body of PrefillAdder.try_add")


class PrefillManager:
    """The waiting queue: first come, first served."""

    def __init__(self, table: TableManager, new_adder: Callable[[], PrefillAdder]) -> None:
        """`new_adder` makes a fresh adder for each round."""
        self.table, self.new_adder = table, new_adder
        self.pending: OrderedDict[int, Req] = OrderedDict()
        """uid -> request, in order of arrival. It forgets a request in constant time, wherever it stands."""

    def add(self, req: Req) -> None:
        """Queue a request behind all others."""
        self.pending[req.uid] = req

    def discard(self, req: Req) -> None:
        """Forget a request, if it is here."""
        self.pending.pop(req.uid, None)

    def head(self) -> Req | None:
        """The request whose turn it is."""
        return next(iter(self.pending.values()), None)

    def placed(self, req: Req, n: int) -> None:
        """Note that `req` computes `n` tokens in this round's batch; called before its cached_len moves."""
        del self.pending[req.uid]

    @property
    def runnable(self) -> bool:
        """Whether asking for a batch can be worth it."""
        return bool(self.pending) and self.table.available > 0

    def schedule_next_batch(self) -> Batch | None:
        """As many requests as fit, in order, stopping at the first that does not; None when none fits.

        Nobody is skipped: a small request behind a large one waits, or the large one might wait for ever.
        """
        raise NotImplementedError("exercise 05.1: write the body of PrefillManager.schedule_next_batch")
