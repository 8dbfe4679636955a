"""right: divmod, and lists that grow"""


class CacheManager:
    def _grow_decode(self, batch: Batch) -> None:
        rows, columns, pages = batch.new_pages
        growing = []
        for req, row, start in zip(batch.reqs, batch.rows, batch.starts, strict=True):
            column, offset = divmod(start, self.allocator.page_size)
            if not offset:
                growing.append(req)
                rows.append(row)
                columns.append(column)
        try:
            pages.extend(self._take_for(growing, [1 for _ in growing]))
        except OutOfPages:
            rows.clear()
            columns.clear()
            raise
        for req, page in zip(growing, pages, strict=True):
            req.pages = [*req.pages, page]
            self.moves.append(([page], req.uid))
