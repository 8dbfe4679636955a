"""wrong: admission-moves-the-request

Moves cached_len on admission: the batch then finds no token to compute.
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
        req.table_idx = self.table.take()
        self.reserved += need
        self.tokens += n
        req.cached_len += n
        return n
