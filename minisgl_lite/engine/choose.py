"""From logits to tokens: greedy. Chapter 05."""

from __future__ import annotations

from typing import Protocol

import torch

from ..core import Batch, SamplingParams


class Chooser(Protocol):
    """Picks the next token of each emitting entry."""

    def check(self, params: SamplingParams) -> None:
        """Raise for parameters that it cannot serve; called before a request is queued."""
        ...

    def __call__(self, logits: torch.Tensor, batch: Batch) -> torch.Tensor:
        """logits [E, vocab] of the emitting entries, in order -> token ids [E], int64, on the same device."""
        ...


class Greedy:
    """The most likely token; among equals the lowest id."""

    def check(self, params: SamplingParams) -> None:
        """Raise NotImplementedError for anything but greedy decoding without text stops or log-probabilities."""
        for name, asked in (
            ("temperature > 0", params.temperature > 0),
            ("stop", bool(params.stop)),
            ("logprobs", params.logprobs is not None),
        ):
            if asked:
                raise NotImplementedError(f"SamplingParams({name}) comes with chapter 10 (sampling)")

    def __call__(self, logits: torch.Tensor, batch: Batch) -> torch.Tensor:
        """See Chooser."""
        return logits.argmax(-1)
