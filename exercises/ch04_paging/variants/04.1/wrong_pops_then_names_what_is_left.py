"""wrong: refusal-took-pages

Takes page after page, and when there are none left names how many are free by then.
"""


class PageAllocator:
    def take(self, n: int) -> list[int]:
        taken = []
        while len(taken) < n:
            if not self._free:
                raise OutOfPages(f"{n} pages wanted, {len(self._free)} of {self.num_pages} free")
            taken.append(self._free.pop())
        return taken
