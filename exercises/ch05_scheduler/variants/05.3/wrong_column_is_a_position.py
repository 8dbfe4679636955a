"""wrong: page-in-the-wrong-column

A column holds a page, not a position.
"""


class CacheManager:
    def _grow_decode(self, batch: Batch) -> None:
        size = self.allocator.page_size
        opens = [i for i, start in enumerate(batch.starts) if start % size == 0]
        growing = [batch.reqs[i] for i in opens]
        pages = self._take_for(growing, [1] * len(growing))
        for req, page in zip(growing, pages, strict=True):
            req.pages.append(page)
        batch.new_pages = ([batch.rows[i] for i in opens], [batch.starts[i] for i in opens], pages)
        if pages:
            self.moves.append((pages, [req.uid for req in growing]))
