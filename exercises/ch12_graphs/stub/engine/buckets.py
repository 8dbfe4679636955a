"""Batch sizes that graphs are captured for, and padding up to them. Chapter 12."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from ..core import Batch


def bucket_sizes(most: int) -> list[int]:
    """1, 2, 4, then every eighth size up to `most`, which is the last: [1, 2, 4, 8, 16, 24, ...].

    A graph costs memory and time to capture, a padded entry costs time in every step: up to 4 the sizes double, from 8
    on at most seven entries are for nothing.
    """
    raise NotImplementedError("exercise 12.1: write the body of bucket_sizes")


def bucket_for(sizes: Sequence[int], entries: int) -> int | None:
    """The smallest of the ascending sizes that holds so many entries; None if none does."""
    raise NotImplementedError("exercise 12.1: write the body of bucket_for")


class Padded(NamedTuple):
    """A decode batch of exactly `size` entries: its rows, positions and the page that each position is in."""

    rows: list[int]
    starts: list[int]
    pages: list[int]


def pad(batch: Batch, size: int) -> Padded:
    """Fill a decode batch up to `size` entries with its own shortest one.

    A padding entry computes what that entry computes and writes the same numbers to the same places: no page or row
    is set aside for it, and nobody else's is touched. The shortest, because its attention reads the least.
    """
    raise NotImplementedError("exercise 12.2: write the body of pad")
