"""The Scheduler: plan a round, settle a round. Chapter 05."""

from __future__ import annotations

from collections import deque

from ..core import NO_TOKEN, Batch, Event, FinishReason, Req, require
from .cache import CacheManager
from .decode import DecodeManager
from .phase import PhasePolicy
from .prefill import PrefillManager
from .table import TableManager


class Scheduler:
    """`plan` chooses a batch and moves its requests on; `commit` settles it when its tokens are known.

    Between the two a batch is in flight: its rows and pages stay as they are. More than one may be in flight; they are
    committed in launch order. Planning needs no token value, so it never waits for the device.
    """

    def __init__(
        self,
        table: TableManager,
        cache: CacheManager,
        prefill: PrefillManager,
        decode: DecodeManager,
        policy: PhasePolicy,
    ) -> None:
        self.table, self.cache, self.prefill, self.decode, self.policy = table, cache, prefill, decode, policy
        self.live: dict[int, Req] = {}
        """uid -> request, from submit until it has a finish reason."""
        self.launched = 0
        self.committed = 0
        self._retiring: deque[Req] = deque()
        self._notes: list[Event] = []
        self._noted: set[int] = set()
        self._ended: deque[tuple[int, FinishReason]] = deque(maxlen=10_000)  # the trace asks, but only after a round

    @property
    def has_work(self) -> bool:
        """Whether a request is unfinished, resources are still held, or an event is not delivered."""
        return bool(self.live or self._retiring or self._notes)

    def in_use(self, uid: int) -> bool:
        """Whether a uid may not be given to a new request yet: its last event has not been delivered."""
        return uid in self.live or uid in self._noted or uid in self.cache.accounts  # the last: who holds pages still

    def submit(self, req: Req) -> None:
        """Queue a request. Raises ValueError when its uid is in use."""
        if self.in_use(req.uid):
            raise ValueError(f"uid {req.uid} is in use by a request that has not ended yet")
        self.live[req.uid] = req
        self.prefill.add(req)

    def plan(self) -> Batch | None:
        """The next batch, with its pages, its requests moved on; None when there is nothing to compute.

        Raises OutOfPages with nothing changed.
        """
        batch = self.policy.choose(self.prefill, self.decode)
        if batch is None:
            return None
        self.cache.grow(batch)
        self.launched += 1
        batch.index = self.launched
        index, done = batch.index, False
        for req, n in zip(batch.reqs, batch.lens, strict=True):
            req.cached_len = end = req.cached_len + n
            req.last_launch = index
            if end == req.limit:
                done = True
        if batch.phase == "prefill":
            self.decode.add([req for req in batch.reqs if req.can_decode])
        elif done:
            self.decode.keep(lambda req: req.can_decode)
        return batch

    def commit(self, batch: Batch, tokens: list[int]) -> list[Event]:
        """Settle the oldest batch in flight: one sampled token for each emitting entry, in entry order.

        Returns the events since the last commit. A token of a request that has ended meanwhile (by abort, or by a
        stop seen while this batch was in flight) is dropped. A stop and the length limit in one step: "stop".
        """
        self._settled(batch)
        events = self.take_notes()
        for req, token in zip(batch.emitting, tokens, strict=True):
            if req.finish_reason is not None:
                continue
            ids = req.input_ids
            ids.append(token)
            if token in req.stop_ids:
                self._finish(req, "stop")
            elif len(ids) > req.limit:
                self._finish(req, "length")
            events.append((req.uid, token, req.finish_reason))
        self._retire()
        return events

    def fail(self, batch: Batch) -> None:
        """Settle the oldest batch in flight without tokens: its forward pass raised.

        Its requests end as aborted, and nothing that it was to compute counts as computed. The others go on.
        """
        raise NotImplementedError("exercise 09.3: write the body of Scheduler.fail")

    def give_up(self, batch: Batch, tokens: list[int]) -> None:
        """End the requests of `batch` that have NO_TOKEN, as aborted; to be called before `tokens` are committed.

        Nothing that such a request computed since its last token counts as computed: one of these positions is to
        blame. The others know nothing of it.
        """
        entries = range(len(batch.reqs)) if batch.emits is None else batch.emits
        for i, token in zip(entries, tokens, strict=True):
            req = batch.reqs[i]
            if token == NO_TOKEN:
                found = (len(req.pages) - len(self.cache.private_pages(req))) * self.cache.allocator.page_size
                req.cached_len = min(req.cached_len, batch.starts[i] if batch.phase == "decode" else found)
                if self.abort(req.uid):
                    req.error = f"the logits after position {batch.starts[i] + batch.lens[i] - 1} are not numbers"

    def abort(self, uid: int) -> bool:
        """End a request wherever it is. False when the uid is unknown or has ended: then nothing happens."""
        ended = self.end(uid, "abort")
        if ended:
            self._notes.append((uid, None, "abort"))
            self._noted.add(uid)
        return ended

    def end(self, uid: int, reason: FinishReason) -> bool:
        """As `abort`, for any reason, and without an event: the caller knows already."""
        req = self.live.get(uid)
        if req is None:
            return False
        self._finish(req, reason)
        self._retire()
        return True

    def take_notes(self) -> list[Event]:
        """Events that belong to no batch, once."""
        notes, self._notes, self._noted = self._notes, [], set()
        return notes

    def take_ended(self) -> tuple[tuple[int, FinishReason], ...]:
        """(uid, reason) of each request that ended since the last call; the trace asks after each commit."""
        ended = tuple(self._ended)
        self._ended.clear()
        return ended

    def _settled(self, batch: Batch) -> None:
        require(batch.index == self.committed + 1, f"batch {batch.index} settled after batch {self.committed}")
        self.committed = batch.index

    def _finish(self, req: Req, reason: FinishReason) -> None:
        """The only door out: leave every queue now, wait in line to give rows and pages back."""
        del self.live[req.uid]
        req.finish_reason = reason
        self._ended.append((req.uid, reason))
        self.prefill.discard(req)
        self.decode.discard(req)
        if req.table_idx is not None:
            self._retiring.append(req)

    def _retire(self) -> None:
        """Give back what ended requests hold, as soon as no batch in flight names them."""
        raise NotImplementedError("exercise 09.3: write the body of Scheduler._retire")

    def check(self) -> None:
        """Raise InvariantError unless every page, row and queue agrees with every other."""
        self.cache.check()
        accounts, running = self.cache.accounts, self.decode.running
        rows = [req.row for req in accounts.values()] + self.table.snapshot()
        require(sorted(rows) == list(range(self.table.rows)), "a row is lost, or given to two requests")
        uids = [req.uid for req in running]
        require(uids == sorted(set(uids)), f"the decode set is not in uid order: {uids}")
        require(all(req.can_decode for req in running), "a request without a token to come is still in the decode set")
        require(all(self.live.get(req.uid) is req for req in running), "an ended request is still in the decode set")
        leaving = {req.uid for req in self._retiring}
        require(accounts.keys() <= self.live.keys() | leaving, "an account is open for a request that is gone")
        queued = self.prefill.pending
        require(all(self.live.get(uid) is req for uid, req in queued.items()), "an ended request is still queued")
        if not self.live and not self._retiring:
            idle = self.table.available == self.table.rows and self.cache.room() == self.cache.allocator.num_pages
            require(idle, "the engine is idle, but not every row and page is back")
