"""CacheManager: who owns which page. Opens an account for each admitted request, grows it, closes it. Chapter 05."""

from __future__ import annotations

from itertools import islice
from typing import Literal

from ..core import Batch, Req, require
from ..kvcache.pages import OutOfPages, PageAllocator

Owner = int | Literal["cache", "free"]
Move = tuple[list[int], Owner | list[int]]
"""(pages, their new owner: the uid of a request, "cache", "free", or one uid a page)"""


class CacheManager:
    """The naive manager: nothing outlives its request.

    `accounts` (uid -> Req) holds every request that may own pages. Each page is exactly one of free, held by one
    account, or (in a later chapter) cached.
    """

    def __init__(self, allocator: PageAllocator) -> None:
        self.allocator = allocator
        self.accounts: dict[int, Req] = {}
        self.moves: list[Move] = []
        """What changed hands since the trace last looked."""

    @property
    def evictable_pages(self) -> int:
        """Cached pages that nobody reads: they can be had when the free ones run out. None are cached here."""
        return 0

    def room(self) -> int:
        """Pages that `grow` could hand out now."""
        return self.allocator.free

    def open(self, req: Req) -> None:
        """Open an account. Sets req.pages and req.cached_len to what is there already: here nothing."""
        req.pages, req.cached_len = [], 0
        self.accounts[req.uid] = req

    def grow(self, batch: Batch) -> None:
        """Give every entry the pages it needs up to its end, and note them in batch.new_pages.

        All or nothing: raises OutOfPages, naming the first request that cannot go on, with nothing changed.
        """
        if batch.phase == "decode":
            self._grow_decode(batch)
        else:
            self._grow_prefill(batch)

    def _grow_decode(self, batch: Batch) -> None:
        """`grow` for a decode batch: entry i stores one position, batch.starts[i]. At most one page each."""
        # The page in question is that of the token about to be *stored*, at position start: the token sampled last
        # round. Positions 0 .. start - 1 are stored already, so a page is missing exactly when start opens one.
        size = self.allocator.page_size
        if size == 1:  # every position opens a page: the batch's own lists say whose and where
            growing, uids, rows, columns = batch.reqs, batch.uids, batch.rows, batch.starts
        else:
            opens = [i for i, start in enumerate(batch.starts) if start % size == 0]
            growing, uids = [batch.reqs[i] for i in opens], [batch.uids[i] for i in opens]
            rows, columns = [batch.rows[i] for i in opens], [batch.starts[i] // size for i in opens]
        pages = self._take_for(growing, [1] * len(growing))
        for req, page in zip(growing, pages, strict=True):
            req.pages.append(page)
        batch.new_pages = (rows, columns, pages)
        if pages:
            self.moves.append((pages, uids))

    def _grow_prefill(self, batch: Batch) -> None:
        """`grow` for a prefill batch: entry i stores batch.lens[i] positions from batch.starts[i] on."""
        ends = map(int.__add__, batch.starts, batch.lens)
        counts = [self.allocator.pages_for(end) - len(req.pages) for end, req in zip(ends, batch.reqs, strict=True)]
        pages = iter(self._take_for(batch.reqs, counts))
        rows, columns, new = batch.new_pages
        for req, row, n in zip(batch.reqs, batch.rows, counts, strict=True):
            # the first piece of a request also writes the pages that `open` found, so that its row is complete
            first = len(req.pages) if req.last_launch else 0
            mine = list(islice(pages, n))
            req.pages += mine
            self.moves.append((mine, req.uid))
            rows += [row] * (len(req.pages) - first)
            columns += range(first, len(req.pages))
            new += req.pages[first:]

    def _take_for(self, reqs: list[Req], counts: list[int]) -> list[int]:
        """Pages for all of `reqs`, `counts` each; OutOfPages names the first that would get too few."""
        try:
            return self._take(sum(counts))
        except OutOfPages as error:
            left = self.room()
            for req, n in zip(reqs, counts, strict=True):
                left -= n
                if left < 0:
                    message = f"request {req.uid} cannot store position {req.cached_len}: {error}"
                    raise OutOfPages(f"{message}; abort a request to go on") from None
            raise

    def _take(self, n: int) -> list[int]:
        return self.allocator.take(n)

    def close(self, req: Req) -> None:
        """Take back every page of a request that no launched batch names any more."""
        del self.accounts[req.uid]
        self.allocator.give(req.pages)
        self.moves.append((req.pages, "free"))
        req.pages = []

    def take_moves(self) -> list[Move]:
        """What changed hands since the last call."""
        moves, self.moves = self.moves, []
        return moves

    def check(self) -> None:
        """Raise InvariantError unless every page is in exactly one place and every account has the pages it needs."""
        free, cached = self.allocator.snapshot(), self.cached_pages()
        held = [page for req in self.accounts.values() for page in self.private_pages(req)]
        places = free + held + cached
        require(len(set(places)) == len(places), "a page is in two places at once")
        require(sorted(places) == list(range(self.allocator.num_pages)), "a page is lost")
        gone = set(free)
        for req in self.accounts.values():
            require(gone.isdisjoint(req.pages), f"request {req.uid} points at a free page")
            enough = len(req.pages) >= self.allocator.pages_for(req.cached_len)
            require(enough, f"request {req.uid} has {len(req.pages)} pages for {req.cached_len} positions")

    def private_pages(self, req: Req) -> list[int]:
        """The pages of an account that belong to it alone."""
        return req.pages

    def cached_pages(self) -> list[int]:
        """The pages that belong to the cache."""
        return []
