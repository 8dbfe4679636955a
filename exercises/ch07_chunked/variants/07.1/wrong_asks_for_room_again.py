"""wrong: half-way-refused

Compares the need with the room once more, from which the same need has been taken away already.
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
        elif self.need(req) > self.room():
            return 0
        else:
            missing = req.prompt_len - req.cached_len
        n = min(missing, left)
        self.tokens = self.budget - left + n
        return n
