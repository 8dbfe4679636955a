"""right: starting and going on as two paths"""


class ChunkedAdder:
    def fits_budget(self, n: int) -> bool:
        return self.budget - self.tokens >= 1

    def try_add(self, req: Req) -> int:
        before = self.tokens
        if before >= self.budget:
            return 0
        if req.table_idx is None and not super().try_add(req):
            return 0
        piece = min(self.budget - before, req.prompt_len - req.cached_len)
        self.tokens = before + piece
        return piece
