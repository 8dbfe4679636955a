"""The virtual engine: the engine's interface on a clock that only counts. No torch. Chapter 05."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..core import Batch

Script = Callable[[int, int], int]
"""(uid, position) -> the token of that request at that position."""


@dataclass(frozen=True)
class LinearCost:
    """Seconds that a round takes: a fixed part, a part for each token computed and one for each position attended to.

    The defaults are round numbers for looking at schedules, not a measured machine.
    """

    fixed: float = 1.0
    per_token: float = 0.0
    per_position: float = 0.0

    def __call__(self, batch: Batch) -> float:
        """The cost of one batch."""
        tokens = sum(batch.lens)
        return self.fixed + self.per_token * tokens + self.per_position * (sum(batch.starts) + tokens)


class VirtualOutput:
    """Tokens that are known from the start."""

    def __init__(self, ids: list[int]) -> None:
        self._ids = ids

    def tokens(self) -> list[int]:
        """One token for each emitting entry."""
        return self._ids


class VirtualEngine:
    """Runs any schedule in no time. Its tokens come from a script; planning cannot peek at them."""

    def __init__(self, script: Script, cost: Callable[[Batch], float] | None = None) -> None:
        self.script = script
        self.cost = LinearCost() if cost is None else cost
        self.clock = 0.0

    def now(self) -> float:
        """Virtual seconds since the start."""
        return self.clock

    def forward_batch(self, batch: Batch) -> VirtualOutput:
        """Move the clock on by the batch's cost."""
        self.clock += self.cost(batch)
        entries = range(len(batch.reqs)) if batch.emits is None else batch.emits
        return VirtualOutput([self.script(batch.reqs[i].uid, batch.starts[i] + batch.lens[i]) for i in entries])
