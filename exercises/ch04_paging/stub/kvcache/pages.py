"""The page allocator: which pages are free. Plain integers, no tensors. Chapter 04."""

from __future__ import annotations

from collections.abc import Iterable


class OutOfPages(RuntimeError):  # noqa: N818 - the name says what is wrong
    """More pages are wanted than there are; nothing has changed."""


class PageAllocator:
    """Hands out the page numbers 0 .. num_pages - 1, last returned first.

    A page holds the K/V of `page_size` consecutive positions of one request. The caller owns what it takes until it
    gives it back, and gives each page back once.
    """

    def __init__(self, num_pages: int, page_size: int) -> None:
        if num_pages < 1 or page_size < 1:
            raise ValueError(f"num_pages is {num_pages} and page_size is {page_size}; both must be at least 1")
        self.num_pages = num_pages
        self.page_size = page_size
        self._free = list(range(num_pages - 1, -1, -1))

    @property
    def free(self) -> int:
        """How many pages nobody owns."""
        return len(self._free)

    @property
    def num_tokens(self) -> int:
        """Positions that the whole pool can hold."""
        return self.num_pages * self.page_size

    def pages_for(self, tokens: int) -> int:
        """Pages that `tokens` positions take: the one formula for the door, the promise and the allocation."""
        raise NotImplementedError("exercise 04.1: write the body of PageAllocator.pages_for")

    def take(self, n: int) -> list[int]:
        """Take `n` pages, all or none. Raises OutOfPages, with both numbers, when fewer are free."""
        raise NotImplementedError("exercise 04.1: write the body of PageAllocator.take")

    def give(self, pages: Iterable[int]) -> None:
        """Return pages that were taken."""
        raise NotImplementedError("exercise 04.1: write the body of PageAllocator.give")

    def snapshot(self) -> list[int]:
        """A copy of the free pages, for checks."""
        return list(self._free)
