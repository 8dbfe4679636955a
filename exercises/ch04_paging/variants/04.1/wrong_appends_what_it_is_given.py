"""wrong: gives-back-the-iterable

Appends what holds the pages as if it were one.
"""


class PageAllocator:
    def give(self, pages: Iterable[int]) -> None:
        self._free.append(pages)
