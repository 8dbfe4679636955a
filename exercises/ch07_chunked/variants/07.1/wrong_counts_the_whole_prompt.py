"""wrong: tokens-miscounted

Counts what the inherited method has counted: the whole prompt, not the piece.
"""


class ChunkedAdder:
    def fits_budget(self, n: int) -> bool:
        return self.tokens < self.budget

    def try_add(self, req: Req) -> int:
        left = self.budget - self.tokens
        if left <= 0:
            return 0
        if req.table_idx is None:
            return min(super().try_add(req), left)
        n = min(req.prompt_len - req.cached_len, left)
        self.tokens += n
        return n
