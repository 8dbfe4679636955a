"""Rank 0: takes the caller's commands and has every rank carry out the same, in the same order. Chapter 13."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from ..core import Event, FinishReason, Req, SamplingParams
from ..kvcache.pages import OutOfPages
from ..scheduler.loop import Loop
from ..scheduler.scheduler import Scheduler
from .links import LeaderLink, RankError
from .torch_comm import CollectiveError

Command = tuple[Any, ...]
"""(name, arguments ...): a method of Scheduler, or "step", "check" or "close"."""


class EndedError(RuntimeError):
    """A command for ranks that have ended."""


class Others(Protocol):
    """The other ranks, as whoever holds their processes sees them. broken: one has ended that was not told to."""

    broken: RankError | None

    def end(self, orderly: bool) -> None:
        """Let them end by themselves, having been told to, or end them. Must not raise."""
        ...


class Lead:
    """Sends commands to the other ranks, and ends them all when one cannot go on.

    What does not hurry is collected and goes out with the next step: one message a round.
    """

    def __init__(self, link: LeaderLink, others: Others) -> None:
        self.link, self._others = link, others
        self._pending: list[Command] = []
        self._owner = os.getpid()
        self.over = ""
        """Why no command can be sent any more; "" while they can."""

    def note(self, name: str, *args: object) -> None:
        """Have every rank do this before its next step."""
        self._pending.append((name, *args))

    def send(self, name: str) -> None:
        """Have every rank do what was noted, and then this. Raises RankError when one is gone."""
        if self.over:
            raise EndedError(f"this LLM is closed: {self.over}")
        if os.getpid() != self._owner:
            raise EndedError(f"this LLM belongs to process {self._owner}: a fork of it cannot use it")
        pending, self._pending = [*self._pending, (name,)], []
        self.link.tell(pending)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Around what all ranks do: when it raises on rank 0, nobody can go on, and the cause is told.

        Running out of pages is no such case: every rank comes to this end, and nothing has changed.
        """
        try:
            yield
            if self._others.broken is not None:
                # on a GPU, a collective that is taken back gives numbers, not an exception
                raise CollectiveError("another rank has ended")
        except OutOfPages:
            raise
        except BaseException as error:
            if self.over or os.getpid() != self._owner:
                raise
            cause = self.fail(error)
            if cause is None or cause is error:
                raise
            raise cause from error

    def fail(self, error: BaseException) -> BaseException | None:
        """End all ranks because of `error`; what another rank says was the cause, if it is a rank that failed."""
        cause = error if isinstance(error, RankError) else None
        if cause is None and (isinstance(error, CollectiveError) or self._others.broken is not None):
            cause = self.link.failure(5.0)  # somebody else knows why
        if cause is not None and cause.cause != "failed":
            # a copy: an exception keeps the frames through which it was raised, and `_others` outlives the engine there
            cause = copy.copy(self._others.broken) or (cause if cause.cause == "ended" else None)
        self.over = str(cause or error) or type(error).__name__
        self._others.end(orderly=False)
        return cause

    def close(self) -> None:
        """Let every rank end. May be called twice; in a fork, whose ranks they are not, it does nothing."""
        if self.over or os.getpid() != self._owner:
            return
        try:
            self.send("close")
        except RankError as error:
            self.fail(error)
        else:
            self.over = "close was called"
            self._others.end(orderly=True)


def plain(params: SamplingParams) -> SamplingParams:
    """The same parameters in the types of Python and of this package: the other ranks have no others."""
    return SamplingParams(
        temperature=float(params.temperature),
        top_k=params.top_k,
        top_p=float(params.top_p),
        max_tokens=params.max_tokens,
        ignore_eos=params.ignore_eos,
        seed=params.seed,
        stop_token_ids=tuple(map(int, params.stop_token_ids)),
        stop=tuple(map(str.__str__, params.stop)),
        logprobs=params.logprobs,
    )


class LeadingScheduler:
    """A Scheduler as LLM uses it: what changes it is noted for the other ranks. Everything else is the scheduler's."""

    def __init__(self, scheduler: Scheduler, lead: Lead) -> None:
        self._scheduler, self._lead = scheduler, lead

    def submit(self, req: Req) -> None:
        """See Scheduler."""
        self._scheduler.submit(req)
        # a copy: this rank's request may have moved on when the note is sent
        note = copy.copy(req)
        note.params = plain(req.params)
        self._lead.note("submit", note)

    def abort(self, uid: int) -> bool:
        """See Scheduler."""
        self._lead.note("abort", uid)
        return self._scheduler.abort(uid)

    def end(self, uid: int, reason: FinishReason) -> bool:
        """See Scheduler."""
        self._lead.note("end", uid, reason)
        return self._scheduler.end(uid, reason)

    def take_notes(self) -> list[Event]:
        """See Scheduler."""
        self._lead.note("take_notes")
        return self._scheduler.take_notes()

    def check(self) -> None:
        """See Scheduler; on every rank. Raises RankError naming one whose books are wrong."""
        with self._lead.together():
            self._lead.send("check")
            self._scheduler.check()
            self._lead.link.exchange(None, len)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scheduler, name)


class LeadingLoop:
    """A Loop as LLM uses it: a step is a step of every rank."""

    def __init__(self, loop: Loop, lead: Lead) -> None:
        self.loop, self._lead = loop, lead

    @property
    def has_work(self) -> bool:
        """See Loop."""
        return self.loop.has_work

    def step(self) -> list[Event]:
        """See Loop. Raises RankError when another rank fails; then all have ended, and the engine is closed."""
        with self._lead.together():
            self._lead.send("step")
            return self.loop.step()
