"""wrong: numbers-not-named

Whoever reads the error learns nothing.
"""


class PageAllocator:
    def take(self, n: int) -> list[int]:
        if n > len(self._free):
            raise OutOfPages("out of pages")
        return [self._free.pop() for _ in range(n)]
