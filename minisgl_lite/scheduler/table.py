"""Rows of the page table and the token pool: one a running request. Chapter 05."""

from __future__ import annotations


class TableManager:
    """Hands out the rows 0 .. rows - 1, one a running request. The caller gives back what it takes, once."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self._free = list(range(rows - 1, -1, -1))

    @property
    def available(self) -> int:
        """How many more requests can be admitted."""
        return len(self._free)

    def take(self) -> int:
        """Take a free row; there must be one."""
        return self._free.pop()

    def give(self, row: int) -> None:
        """Return a row that was taken."""
        self._free.append(row)

    def snapshot(self) -> list[int]:
        """A copy of the free rows, for checks."""
        return list(self._free)
