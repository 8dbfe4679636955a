"""A virtual engine with two clocks: one for the host, one for the device. No torch. Chapter 09."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core import Batch, Phase
from .virtual import VirtualEngine, VirtualOutput

Span = tuple[float, float]
"""(start, end), in seconds."""


@dataclass(frozen=True)
class Lane:
    """Where the time of one round went.

    launch: the host plans the batch and starts it. device: the device computes it. wait: the host has nothing to do
    until the tokens are there. settle: the host commits them. uids: of the entries, in batch order.
    """

    index: int
    phase: Phase
    uids: tuple[int, ...]
    launch: Span
    device: Span
    wait: Span
    settle: Span


@dataclass(frozen=True)
class HostCost:
    """Seconds of the host that a round takes: before the device can start it, and after its tokens are known.

    The defaults are round numbers beside a device that takes 1 second, not a measured machine.
    """

    launch: float = 0.3
    settle: float = 0.2


class TwoClockEngine:
    """A host, and a device that works by itself. `now` is the host's clock; waiting for tokens is what joins the two.

    device: the virtual engine that stands for it; its clock is the device's. A batch starts there when it has been
    launched and the one before it is done. `lanes` holds a record of each settled round.
    """

    def __init__(self, device: VirtualEngine, host: HostCost | None = None) -> None:
        self.device, self.host = device, HostCost() if host is None else host
        self.clock = 0.0
        self.lanes: list[Lane] = []

    def now(self) -> float:
        """The host's clock, in virtual seconds since the start."""
        return self.clock

    def forward_batch(self, batch: Batch) -> TwoClockOutput:
        """Move the host's clock on by what a launch costs it, and the device's by what the batch costs."""
        raise NotImplementedError("exercise 09.1: write the body of TwoClockEngine.forward_batch")

    def settle(self, batch: Batch, launch: Span, device: Span) -> None:
        """The host wants the tokens of a batch: it waits until the device has them, and commits them."""
        raise NotImplementedError("exercise 09.1: write the body of TwoClockEngine.settle")


class TwoClockOutput:
    """Tokens that reach the host when its clock has come to where the device's was."""

    def __init__(self, engine: TwoClockEngine, batch: Batch, output: VirtualOutput, launch: Span, device: Span) -> None:
        self._engine, self._batch, self._output = engine, batch, output
        self._launch, self._device = launch, device

    def tokens(self) -> list[int]:
        """See Output. To be called once."""
        self._engine.settle(self._batch, self._launch, self._device)
        return self._output.tokens()


def idle_share(lanes: Sequence[Lane]) -> float:
    """The part of the time, from the device's first start to its last end, in which it had nothing to do."""
    raise NotImplementedError("exercise 09.1: write the body of idle_share")
