"""wrong: need-before-open

Asks what is needed before the account is open.
"""


class PrefillAdder:
    def try_add(self, req: Req) -> int:
        if not self.table.available:
            return 0
        need = self.need(req)
        self.cache.open(req)
        n = req.prompt_len - req.cached_len
        if need > self.room() or not self.fits_budget(n):
            self.cache.close(req)
            return 0
        req.table_idx = self.table.take()
        self.reserved += need
        self.tokens += n
        return n
