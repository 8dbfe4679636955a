"""wrong: no-error

Hands out what is there and says nothing.
"""


class PageAllocator:
    def take(self, n: int) -> list[int]:
        return [self._free.pop() for _ in range(min(n, len(self._free)))]
