"""wrong: budget-not-shared

Each request gets a piece as large as the whole budget.
"""


class ChunkedAdder:
    def fits_budget(self, n: int) -> bool:
        return self.tokens < self.budget

    def try_add(self, req: Req) -> int:
        before = self.tokens
        if before >= self.budget:
            return 0
        missing = req.prompt_len - req.cached_len if req.table_idx is not None else super().try_add(req)
        n = min(missing, self.budget)
        self.tokens = before + n
        return n
