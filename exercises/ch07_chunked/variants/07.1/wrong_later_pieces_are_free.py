"""wrong: tokens-miscounted

Does not count the tokens of a prompt that goes on: the next request finds a full budget.
"""


class ChunkedAdder:
    def fits_budget(self, n: int) -> bool:
        return self.tokens < self.budget

    def try_add(self, req: Req) -> int:
        left = self.budget - self.tokens
        if left <= 0:
            return 0
        if req.table_idx is not None:
            return min(req.prompt_len - req.cached_len, left)
        n = min(super().try_add(req), left)
        self.tokens = self.budget - left + n
        return n
