"""Interleave: a phase policy that bounds how long those who are decoding wait for prefill rounds. Chapter 07."""

from __future__ import annotations

from ..core import Batch
from .decode import DecodeManager
from .prefill import PrefillManager


class Interleave:
    """Prefill first, but after `prefills` prefill rounds that somebody waited for, one decode round.

    Two tokens of a running request are then at most `prefills` prefill rounds apart. With chunked prefill each of those
    costs at most the token budget, so the wait is bounded in time as well; with whole prompts it is as long as the
    longest prompt. New requests pay: their prompts take more rounds to complete.
    """

    def __init__(self, prefills: int = 1) -> None:
        """`prefills`: at least 1."""
        if prefills < 1:
            raise ValueError(f"prefills is {prefills}; it must be at least 1")
        self.prefills = prefills
        self.waited = 0
        """Prefill rounds since the last decode round during which somebody could have decoded."""

    def choose(self, prefill: PrefillManager, decode: DecodeManager) -> Batch | None:
        """See PhasePolicy."""
        raise NotImplementedError("exercise 07.3: write the body of Interleave.choose")
