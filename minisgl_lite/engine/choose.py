"""From logits to tokens: greedy. Chapter 05."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch

from ..core import Batch, SamplingParams


class Chooser(Protocol):
    """Picks the next token of each emitting entry."""

    def check(self, params: SamplingParams) -> None:
        """Raise for parameters that it cannot serve; called before a request is queued."""
        ...

    def __call__(self, logits: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, ...]:
        """At launch, on the device: logits [E, vocab] of the emitting entries, in order -> tensors for the host.

        The first holds the token ids [E], int64, NO_TOKEN where an entry has none; the others are the chooser's own.
        """
        ...

    def read(self, batch: Batch, arrived: Sequence[torch.Tensor]) -> list[int]:
        """At settle, on the host: those tensors, arrived -> one token for each emitting entry, or NO_TOKEN."""
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

    def __call__(self, logits: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, ...]:
        """See Chooser."""
        return (logits.argmax(-1),)

    def read(self, batch: Batch, arrived: Sequence[torch.Tensor]) -> list[int]:
        """See Chooser."""
        ids: list[int] = arrived[0].tolist()
        return ids
