"""wrong: admitted-twice

Does not tell a request that goes on from one that starts: each piece opens an account and takes a row.
"""


class ChunkedAdder:
    def fits_budget(self, n: int) -> bool:
        return self.tokens < self.budget

    def try_add(self, req: Req) -> int:
        left = self.budget - self.tokens
        if left <= 0:
            return 0
        n = min(super().try_add(req), left)
        self.tokens = self.budget - left + n
        return n
