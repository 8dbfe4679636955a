"""wrong: refusal-left-something

Admits a request when nothing is left of the budget, gives it a piece of no tokens, and says 0.
"""


class ChunkedAdder:
    def fits_budget(self, n: int) -> bool:
        return True

    def try_add(self, req: Req) -> int:
        left = self.budget - self.tokens
        missing = req.prompt_len - req.cached_len if req.table_idx is not None else super().try_add(req)
        n = min(missing, left)
        self.tokens = self.budget - left + n
        return n
