"""wrong: page-lost

Takes back the first of the pages only.
"""


class PageAllocator:
    def give(self, pages: Iterable[int]) -> None:
        for page in pages:
            self._free.append(page)
            return
