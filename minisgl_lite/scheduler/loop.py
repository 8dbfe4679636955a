"""The loop: launch a round, settle a round. Chapter 05."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ..core import NO_TOKEN, Batch, Event
from .scheduler import Scheduler


class Output(Protocol):
    """A launched batch's result. The device may still be computing it."""

    def tokens(self) -> list[int]:
        """Wait for the batch; one token, or NO_TOKEN, for each emitting entry. The only wait in the engine."""
        ...


class Runner(Protocol):
    """What runs a batch: the engine, or one of its stand-ins."""

    def forward_batch(self, batch: Batch) -> Output:
        """Launch the batch. Batches run in the order in which they are launched."""
        ...

    def now(self) -> float:
        """Seconds on this runner's clock."""
        ...


class Flight:
    """A launched batch, its output to come, and when it was launched."""

    def __init__(self, batch: Batch, output: Output, start: float) -> None:
        self.batch, self.output, self.start = batch, output, start


Record = Callable[[Flight, float], None]
"""Called after each commit with (flight, end time)."""


class Loop:
    """One round after the other: each is settled before the next is planned.

    When a forward pass raises, its requests end as aborted, everybody else stays as they were, and the exception goes
    on to the caller: the next step carries on.
    """

    def __init__(self, scheduler: Scheduler, runner: Runner, record: Record) -> None:
        self.scheduler, self.runner, self.record = scheduler, runner, record

    @property
    def has_work(self) -> bool:
        """Whether another step would do or deliver anything."""
        return self.scheduler.has_work

    def launch(self) -> Flight | None:
        """Plan a batch and start it; None when there is nothing to compute."""
        start = self.runner.now()
        batch = self.scheduler.plan()
        if batch is None:
            return None
        try:
            return Flight(batch, self.runner.forward_batch(batch), start)
        except BaseException:
            self.scheduler.fail(batch)
            raise

    def settle(self, flight: Flight | None) -> list[Event]:
        """Wait for a launched batch and commit its tokens. Without one: only what waits to be delivered."""
        if flight is None:
            return self.scheduler.take_notes()
        try:
            tokens = flight.output.tokens()
        except BaseException:
            self.scheduler.fail(flight.batch)
            raise
        if NO_TOKEN in tokens:
            self.scheduler.give_up(flight.batch, tokens)
        events = self.scheduler.commit(flight.batch, tokens)
        self.record(flight, self.runner.now())
        return events

    def step(self) -> list[Event]:
        """One round."""
        return self.settle(self.launch())
