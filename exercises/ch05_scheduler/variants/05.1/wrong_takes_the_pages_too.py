"""wrong: pages-taken-early

Hands out the pages of the prompt on admission; `plan` does so afterwards.
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
        req.pages += self.cache.allocator.take(need)
        self.reserved += need
        self.tokens += n
        return n
