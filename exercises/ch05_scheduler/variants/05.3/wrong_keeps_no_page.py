"""wrong: page-without-owner

Tells the page table and the trace of the new pages, but not their owners.
"""


class CacheManager:
    def _grow_decode(self, batch: Batch) -> None:
        size = self.allocator.page_size
        opens = [i for i, start in enumerate(batch.starts) if start % size == 0]
        pages = self._take_for([batch.reqs[i] for i in opens], [1] * len(opens))
        batch.new_pages = ([batch.rows[i] for i in opens], [batch.starts[i] // size for i in opens], pages)
        self.moves.append((pages, [batch.reqs[i].uid for i in opens]))
