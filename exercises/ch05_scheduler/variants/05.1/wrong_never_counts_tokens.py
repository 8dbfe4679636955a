"""wrong: budget-ignored

Never adds up the tokens of the round.
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
        return n
