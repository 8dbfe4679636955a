"""Overlap scheduling: the next round is launched before the last one is settled. Chapter 09."""

from __future__ import annotations

from ..core import Batch, Event
from ..kvcache.pages import OutOfPages
from .loop import Flight, Loop, Output, Record, Runner
from .scheduler import Scheduler


class OverlapLoop(Loop):
    """While the device computes round N, the host settles round N - 1 and plans round N + 1.

        step         1          2                   3
        host    launch 1   launch 2, settle 1   launch 3, settle 2   ...
        device        [ 1          ][ 2                  ][ 3

    Planning needs no token, so only one thing is late: a stop (EOS, stop token or string, abort) is seen when the next
    round of its request is already under way. That round's token is dropped; a request wastes one entry at most. An end
    by length is known at planning and wastes nothing. Rows and pages come back when the last batch that names them is
    settled, a step later than without overlap: a request that waits for them starts a round later.
    """

    def __init__(self, scheduler: Scheduler, runner: Runner, record: Record) -> None:
        super().__init__(scheduler, Patient(runner), record)
        self._flight: Flight | None = None

    def step(self) -> list[Event]:
        """Launch a round, settle the one before it.

        A launch that raises is told in the step after: the round before it must be settled first, and its events
        delivered. Nothing is launched in between.
        """
        raise NotImplementedError("exercise 09.2: write the body of OverlapLoop.step")

    def _launch_behind(self, before: Flight | None) -> Flight | None:
        raise NotImplementedError("exercise 09.2: write the body of OverlapLoop._launch_behind")


class Crashed:
    """The output of a batch whose launch raised: it says so when it is waited for."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def tokens(self) -> list[int]:
        """Raises what the launch raised."""
        raise self.error


class Patient:
    """A runner whose launches never raise: batches fail in line, as they are settled in line."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner

    def forward_batch(self, batch: Batch) -> Output:
        """See Runner."""
        try:
            return self.runner.forward_batch(batch)
        except BaseException as error:
            return Crashed(error)

    def now(self) -> float:
        """See Runner."""
        return self.runner.now()
