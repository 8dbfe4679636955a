"""wrong: half-way-refused

Looks for a free row before it looks at the request.
"""


class ChunkedAdder:
    def fits_budget(self, n: int) -> bool:
        return self.tokens < self.budget

    def try_add(self, req: Req) -> int:
        left = self.budget - self.tokens
        if left <= 0 or not self.table.available:
            return 0
        missing = req.prompt_len - req.cached_len if req.table_idx is not None else super().try_add(req)
        n = min(missing, left)
        self.tokens = self.budget - left + n
        return n
