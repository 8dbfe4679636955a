"""wrong: moves-tell-too-much

Notes all pages of a request each time, not only the new ones.
"""


class CacheManager:
    def _grow_prefill(self, batch: Batch) -> None:
        ends = [start + n for start, n in zip(batch.starts, batch.lens, strict=True)]
        counts = [self.allocator.pages_for(end) - len(req.pages) for end, req in zip(ends, batch.reqs, strict=True)]
        pages = self._take_for(batch.reqs, counts)
        rows, columns, new = batch.new_pages
        for req, row, n in zip(batch.reqs, batch.rows, counts, strict=True):
            first = len(req.pages) if req.last_launch else 0
            mine, pages = pages[:n], pages[n:]
            req.pages += mine
            self.moves.append((list(req.pages), req.uid))
            rows += [row] * (len(req.pages) - first)
            columns += range(first, len(req.pages))
            new += req.pages[first:]
