"""The trace: one record for each round. The viewers read it. Chapter 05."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from .core import FinishReason, Phase
from .scheduler.cache import Move, Owner
from .scheduler.loop import Flight
from .scheduler.scheduler import Scheduler

KEEP = 10_000
QUEUE_SHOWN = 64


@dataclass(frozen=True, slots=True)
class Round:
    """What one round did, and how things stood after its commit.

    uids, starts, lens: what the batch computed, an entry each; see entries. waiting, running: requests in the
    queue and in the decode set. free_slots: rows of the table. waiting_uids: the first 64 of the queue, in order.
    finished: (uid, reason). start, end: seconds on the engine's clock, from planning to commit. moves: see page_events.
    """

    index: int
    phase: Phase
    uids: Sequence[int]
    starts: Sequence[int]
    lens: Sequence[int]
    waiting: int
    running: int
    free_slots: int
    free_pages: int
    evictable_pages: int
    start: float
    end: float
    waiting_uids: tuple[int, ...]
    finished: tuple[tuple[int, FinishReason], ...]
    moves: list[Move]

    @property
    def entries(self) -> tuple[tuple[int, int, int], ...]:
        """(uid, cached_len before the round, tokens computed) for each entry, in batch order."""
        return tuple(zip(self.uids, self.starts, self.lens, strict=True))

    @property
    def page_events(self) -> tuple[tuple[int, Owner], ...]:
        """(page, new owner: a uid, "cache" or "free") for each page that changed hands since the round before.

        Spelt out when somebody looks: most rounds are never looked at, and at page size 1 each moves a page a request.
        """
        events: list[tuple[int, Owner]] = []
        for pages, owner in self.moves:
            owners: list[Owner] = list(owner) if isinstance(owner, list) else [owner] * len(pages)
            events += zip(pages, owners, strict=True)
        return tuple(events)


class Recorder:
    """Turns settled rounds into records; keeps the last `keep`."""

    def __init__(self, scheduler: Scheduler, keep: int = KEEP) -> None:
        self.scheduler = scheduler
        self.rounds: deque[Round] = deque(maxlen=keep)
        self._next = 0

    def __call__(self, flight: Flight, end: float) -> None:
        """Record a round; its cost does not depend on how many requests wait."""
        batch, s = flight.batch, self.scheduler
        self.rounds.append(
            Round(
                index=self._next,
                phase=batch.phase,
                uids=batch.uids,
                starts=batch.starts,
                lens=batch.lens,
                waiting=len(s.prefill.pending),
                running=len(s.decode.running),
                free_slots=s.table.available,
                free_pages=s.cache.allocator.free,
                evictable_pages=s.cache.evictable_pages,
                start=flight.start,
                end=end,
                waiting_uids=tuple(islice(s.prefill.pending, QUEUE_SHOWN)),
                finished=s.take_ended(),
                moves=s.cache.take_moves(),
            )
        )
        self._next += 1

    def correct(self, uid: int, reason: FinishReason) -> None:
        """Note in the last round that its tokens ended a request after all, or for another reason: by its text."""
        if not self.rounds:
            return
        last, s = self.rounds[-1], self.scheduler
        others = [end for end in (*last.finished, *s.take_ended()) if end[0] != uid]
        self.rounds[-1] = replace(
            last,
            running=len(s.decode.running),
            free_slots=s.table.available,
            free_pages=s.cache.allocator.free,
            evictable_pages=s.cache.evictable_pages,
            finished=(*others, (uid, reason)),
            moves=last.moves + s.cache.take_moves(),
        )
