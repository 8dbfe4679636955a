"""wrong: room-before-open

Knows what is needed after open, but how much room there is from before it.
"""


class PrefillAdder:
    def try_add(self, req: Req) -> int:
        if not self.table.available:
            return 0
        room = self.room()
        self.cache.open(req)
        need, n = self.need(req), req.prompt_len - req.cached_len
        if need > room or not self.fits_budget(n):
            self.cache.close(req)
            return 0
        req.table_idx = self.table.take()
        self.reserved += need
        self.tokens += n
        return n
