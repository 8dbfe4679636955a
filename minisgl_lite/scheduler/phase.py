"""Which kind of work a round does. Chapter 05."""

from __future__ import annotations

from typing import Protocol

from ..core import Batch
from .decode import DecodeManager
from .prefill import PrefillManager


class PhasePolicy(Protocol):
    """Chooses the round's batch. One phase a round: prefill and decode are never mixed."""

    def choose(self, prefill: PrefillManager, decode: DecodeManager) -> Batch | None:
        """The next batch, or None when there is nothing to compute."""
        ...


class PrefillFirst:
    """Prefill whenever a waiting request fits, decode otherwise.

    A new request sees its first token soon; those that are decoding wait for as long as new ones keep fitting. That
    wait has no bound but the number of rows.
    """

    def choose(self, prefill: PrefillManager, decode: DecodeManager) -> Batch | None:
        """See PhasePolicy."""
        return prefill.schedule_next_batch() or decode.schedule_next_batch()
