"""wrong: wrong-error

Lets the list complain in its own words.
"""


class PageAllocator:
    def take(self, n: int) -> list[int]:
        kept = list(self._free)
        try:
            return [self._free.pop() for _ in range(n)]
        except IndexError:
            self._free = kept
            raise
