"""wrong: refusal-took-pages

Takes page after page and notices only half-way that there are too few.
"""


class PageAllocator:
    def take(self, n: int) -> list[int]:
        taken = []
        wanted, had = n, len(self._free)
        for _ in range(n):
            if not self._free:
                raise OutOfPages(f"{wanted} pages wanted, {had} of {self.num_pages} free")
            taken.append(self._free.pop())
        return taken
