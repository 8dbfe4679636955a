"""A batch as flat tensors: ids, positions and boundaries, without padding. Chapter 03."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

import torch


def upload(device: torch.device, *parts: Sequence[int]) -> tuple[torch.Tensor, ...]:
    """Send lists of integers to the device in one copy; returns one int64 view a list, in order.

    A batch needs half a dozen short lists. One copy of their concatenation costs about as much as one copy of any of
    them, and going through `array` is several times faster than torch.tensor(list).
    """
    flat: list[int] = []
    for part in parts:
        flat += part
    if not flat:
        return tuple(torch.empty(0, dtype=torch.int64, device=device) for _ in parts)
    whole = torch.frombuffer(array("q", flat), dtype=torch.int64)
    if device.type == "cuda":
        # a copy from pinned memory need not be waited for, and torch gives the memory to nobody else before it is done
        whole = whole.pin_memory()
    whole = whole.to(device, non_blocking=device.type == "cuda")
    return torch.split(whole, [len(part) for part in parts])


class Ragged(NamedTuple):
    """Where each of the T tokens of a ragged batch belongs.

    positions: [T] position of the token in its own request. entry: [T] index of the batch entry that it belongs to.
    ends: [B] one past the entry's last token in the flat order; ends[i] - 1 is the token whose logits entry i samples.
    """

    positions: torch.Tensor
    entry: torch.Tensor
    ends: torch.Tensor


def ragged(starts: torch.Tensor, lens: torch.Tensor, total: int) -> Ragged:
    """Lay out B entries of `lens` [B] tokens, the first of each at position `starts` [B]; total = lens.sum().

    A fixed number of operations whatever B is, and no synchronisation: the host already knows `total`.
    """
    ends = torch.cumsum(lens, 0)
    entry = torch.repeat_interleave(lens, output_size=total)
    first = (ends - lens - starts)[entry]
    return Ragged(torch.arange(total, device=lens.device) - first, entry, ends)
