"""DecodeManager: the requests that are generating. Chapter 05."""

from __future__ import annotations

from collections.abc import Callable

from ..core import Batch, Req


class DecodeManager:
    """Requests whose prompt is computed and who have a token to come, in uid order.

    Why sorted: under tensor parallelism each rank runs its own scheduler, and all must make the same batch. An order
    that follows from the uids is the same everywhere; one that follows from arrival or from addresses need not be.
    """

    def __init__(self) -> None:
        self.running: list[Req] = []
        self._rows: list[int] = []
        self._uids: list[int] = []

    def add(self, reqs: list[Req]) -> None:
        """Let admitted requests take part from the next decode round on."""
        if reqs:
            self._set(sorted(self.running + reqs, key=lambda req: req.uid))

    def discard(self, req: Req) -> None:
        """Take a request out, if it is in."""
        if req in self.running:
            self.keep(lambda r: r is not req)

    def keep(self, test: Callable[[Req], bool]) -> None:
        """Take out every request that fails the test."""
        self._set([req for req in self.running if test(req)])

    def _set(self, running: list[Req]) -> None:
        # new lists, never changes in place: a batch in flight still holds the old ones
        self.running = running
        self._rows = [req.row for req in running]
        self._uids = [req.uid for req in running]

    def schedule_next_batch(self) -> Batch | None:
        """Every running request, one token each; None when nobody runs."""
        if not self.running:
            return None
        starts = [req.cached_len for req in self.running]
        return Batch("decode", self.running, starts, [1] * len(starts), self._rows, uids=self._uids)
