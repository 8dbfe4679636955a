"""wrong: taken-but-still-free

Copies the pages out of the list and leaves them in it.
"""


class PageAllocator:
    def take(self, n: int) -> list[int]:
        if n > len(self._free):
            raise OutOfPages(f"{n} pages wanted, {len(self._free)} of {self.num_pages} free")
        return self._free[:n]
