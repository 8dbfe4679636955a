"""wrong: zero-takes-all

A slice from -0 is the whole list.
"""


class PageAllocator:
    def take(self, n: int) -> list[int]:
        if n > len(self._free):
            raise OutOfPages(f"{n} pages wanted, {len(self._free)} of {self.num_pages} free")
        taken = self._free[-n:]
        del self._free[-n:]
        return taken
