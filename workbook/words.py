"""Numbers in sentences."""

from __future__ import annotations


def counted(n: int, word: str) -> str:
    """A number of things in words: `1 page`, `2 pages`."""
    return f"{n} {word}" if n == 1 else f"{n} {word}s"
