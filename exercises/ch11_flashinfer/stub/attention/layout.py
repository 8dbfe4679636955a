"""A step's pages as attention kernels read them: one flat list, and where each entry's part ends. Chapter 11."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import torch

from ..engine.inputs import upload
from ..engine.slots import StepInputs


class PageLayout(NamedTuple):
    """Compressed rows (CSR) of pages, on the host; kernels take `ends` and `last` as indptr and last_page_len.

    counts: B, the pages that an entry reads. ends: B + 1, 0 and the running sum of counts: entry i has the pages
    ends[i] .. ends[i + 1] - 1 of the flat list. last: B, the positions in use of an entry's last page, 1 .. page_size.
    """

    counts: list[int]
    ends: list[int]
    last: list[int]


def page_layout(starts: Sequence[int], lens: Sequence[int], page_size: int) -> PageLayout:
    """The layout of B entries that attend to their first starts[i] + lens[i] positions, at least one each."""
    raise NotImplementedError("exercise 11.1: write the body of page_layout")


def page_indices(inputs: StepInputs, counts: Sequence[int]) -> torch.Tensor:
    """The flat list: the first counts[i] pages of entry i, entry after entry, int32, on the device.

    A fixed number of operations and no synchronisation, whatever the number of entries: the host knows the counts, the
    device has the page table.
    """
    raise NotImplementedError("exercise 11.2: write the body of page_indices")


def host_int32(values: Sequence[int]) -> torch.Tensor:
    """The values as an int32 tensor on the host."""
    return torch.frombuffer(array("i", values), dtype=torch.int32)
