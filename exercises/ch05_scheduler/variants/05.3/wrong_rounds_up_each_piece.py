"""wrong: page-too-many

Counts each piece by itself: one that ends inside a page is followed by one that starts there.
"""


class CacheManager:
    def _grow_prefill(self, batch: Batch) -> None:
        counts = [self.allocator.pages_for(n) for n in batch.lens]
        pages = self._take_for(batch.reqs, counts)
        rows, columns, new = batch.new_pages
        for req, row, n in zip(batch.reqs, batch.rows, counts, strict=True):
            first = len(req.pages) if req.last_launch else 0
            mine, pages = pages[:n], pages[n:]
            req.pages += mine
            self.moves.append((mine, req.uid))
            rows += [row] * (len(req.pages) - first)
            columns += range(first, len(req.pages))
            new += req.pages[first:]
