"""right: one page at a time

Checks first, then pops.
"""


class PageAllocator:
    def pages_for(self, tokens: int) -> int:
        return (tokens + self.page_size - 1) // self.page_size

    def take(self, n: int) -> list[int]:
        free = len(self._free)
        if free < n:
            raise OutOfPages(f"{n} wanted, {free} free")
        return [self._free.pop() for _ in range(n)]

    def give(self, pages: Iterable[int]) -> None:
        for page in pages:
            self._free.append(page)
