"""right: admits by itself instead of asking the inherited try_add"""


class ChunkedAdder:
    def fits_budget(self, n: int) -> bool:
        return self.tokens < self.budget

    def _start(self, req: Req) -> bool:
        """Open, compare, promise; False with nothing changed."""
        if self.table.available == 0:
            return False
        self.cache.open(req)
        need = self.need(req)
        if need > self.room():
            self.cache.close(req)
            return False
        self.reserved += need
        req.table_idx = self.table.take()
        return True

    def try_add(self, req: Req) -> int:
        if not self.fits_budget(1) or (req.table_idx is None and not self._start(req)):
            return 0
        n = min(self.budget - self.tokens, req.prompt_len - req.cached_len)
        self.tokens += n
        return n
