"""wrong: pages-for-the-whole-prompt

Gives the first piece of a prompt the pages of all of it.
"""


class CacheManager:
    def _grow_prefill(self, batch: Batch) -> None:
        counts = [self.allocator.pages_for(req.prompt_len) - len(req.pages) for req in batch.reqs]
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
