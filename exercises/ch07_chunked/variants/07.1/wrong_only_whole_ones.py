"""wrong: piece-refused

Keeps chapter 05's rule for the budget: what does not fit whole behind another one waits for the next round.
"""


class ChunkedAdder:
    def fits_budget(self, n: int) -> bool:
        return self.tokens == 0 or self.tokens + n <= self.budget

    def try_add(self, req: Req) -> int:
        left = self.budget - self.tokens
        if left <= 0:
            return 0
        missing = req.prompt_len - req.cached_len if req.table_idx is not None else super().try_add(req)
        n = min(missing, left)
        self.tokens = self.budget - left + n
        return n
