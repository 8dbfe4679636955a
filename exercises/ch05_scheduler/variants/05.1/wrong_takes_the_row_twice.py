"""wrong: not-one-row

Takes a row to look at it, and another one to keep.
"""


class PrefillAdder:
    def try_add(self, req: Req) -> int:
        if not self.table.available:
            return 0
        self.cache.open(req)
        need, n = self.need(req), req.prompt_len - req.cached_len
        if need > self.room() or not self.fits_budget(n):
            self.cache.close(req)
            return 0
        if self.table.take() >= 0:
            req.table_idx = self.table.take()
        self.reserved += need
        self.tokens += n
        return n
