"""wrong: only-the-piece-promised

Promises the pages of the first piece. The rest will be needed when somebody else has taken them.
"""


class ChunkedAdder:
    def fits_budget(self, n: int) -> bool:
        return self.tokens < self.budget

    def try_add(self, req: Req) -> int:
        left = self.budget - self.tokens
        if left <= 0:
            return 0
        if req.table_idx is None:
            if not self.table.available:
                return 0
            self.cache.open(req)
            piece = min(req.prompt_len - req.cached_len, left)
            need = self.cache.allocator.pages_for(req.cached_len + piece) - len(req.pages)
            if need > self.room():
                self.cache.close(req)
                return 0
            req.table_idx = self.table.take()
            self.reserved += need
        n = min(req.prompt_len - req.cached_len, left)
        self.tokens += n
        return n
