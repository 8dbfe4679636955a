"""wrong: looks-at-the-tokens

Right as long as every sampled token has arrived, which planning must not need.
"""


class CacheManager:
    def _grow_decode(self, batch: Batch) -> None:
        size = self.allocator.page_size
        opens = [i for i, req in enumerate(batch.reqs) if (len(req.input_ids) - 1) % size == 0]
        growing = [batch.reqs[i] for i in opens]
        pages = self._take_for(growing, [1] * len(growing))
        for req, page in zip(growing, pages, strict=True):
            req.pages.append(page)
        batch.new_pages = ([batch.rows[i] for i in opens], [batch.starts[i] // size for i in opens], pages)
        if pages:
            self.moves.append((pages, [req.uid for req in growing]))
