"""wrong: page-table-not-told

The request has its page, and the device never hears of it.
"""


class CacheManager:
    def _grow_decode(self, batch: Batch) -> None:
        size = self.allocator.page_size
        opens = [i for i, start in enumerate(batch.starts) if start % size == 0]
        growing = [batch.reqs[i] for i in opens]
        pages = self._take_for(growing, [1] * len(growing))
        for req, page in zip(growing, pages, strict=True):
            req.pages.append(page)
        if pages:
            self.moves.append((pages, [req.uid for req in growing]))
