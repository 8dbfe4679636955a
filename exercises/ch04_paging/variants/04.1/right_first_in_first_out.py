"""right: oldest page first, whole lists instead of slices

The order of the pages is nobody's business.
"""


class PageAllocator:
    def pages_for(self, tokens: int) -> int:
        full, rest = divmod(tokens, self.page_size)
        return full + (1 if rest else 0)

    def take(self, n: int) -> list[int]:
        if len(self._free) < n:
            raise OutOfPages(f"only {len(self._free)} pages are free, {n} are wanted")
        taken, self._free = self._free[:n], self._free[n:]
        return taken

    def give(self, pages: Iterable[int]) -> None:
        self._free = [*self._free, *pages]
