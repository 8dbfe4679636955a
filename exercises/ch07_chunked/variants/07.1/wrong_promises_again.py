"""wrong: promised-twice

Reserves the need of a request with every piece; the adder counts it already, from the accounts.
"""


class ChunkedAdder:
    def fits_budget(self, n: int) -> bool:
        return self.tokens < self.budget

    def try_add(self, req: Req) -> int:
        left = self.budget - self.tokens
        if left <= 0:
            return 0
        if req.table_idx is None:
            missing = super().try_add(req)
        else:
            missing = req.prompt_len - req.cached_len
            self.reserved += self.need(req)
        n = min(missing, left)
        self.tokens = self.budget - left + n
        return n
