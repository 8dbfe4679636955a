"""wrong: refused-taken-for-half-way

Knows a prompt that is half-way by its computed positions. One that was refused may have some, too.
"""


class ChunkedAdder:
    def fits_budget(self, n: int) -> bool:
        return self.tokens < self.budget

    def try_add(self, req: Req) -> int:
        left = self.budget - self.tokens
        if left <= 0:
            return 0
        missing = req.prompt_len - req.cached_len if req.cached_len else super().try_add(req)
        n = min(missing, left)
        self.tokens = self.budget - left + n
        return n
