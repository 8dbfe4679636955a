"""wrong: not-all-or-nothing

Takes page by page: whoever comes before the one without a page keeps his.
"""


class CacheManager:
    def _grow_decode(self, batch: Batch) -> None:
        size = self.allocator.page_size
        for req, row, start in zip(batch.reqs, batch.rows, batch.starts, strict=True):
            if start % size == 0:
                (page,) = self._take_for([req], [1])
                req.pages.append(page)
                for part, value in zip(batch.new_pages, (row, start // size, page), strict=True):
                    part.append(value)
                self.moves.append(([page], req.uid))
