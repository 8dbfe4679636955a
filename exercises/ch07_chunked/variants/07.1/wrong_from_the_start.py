"""wrong: computed-part-counted-again

Forgets that a part of the prompt is computed already.
"""


class ChunkedAdder:
    def fits_budget(self, n: int) -> bool:
        return self.tokens < self.budget

    def try_add(self, req: Req) -> int:
        left = self.budget - self.tokens
        if left <= 0:
            return 0
        if req.table_idx is None and not super().try_add(req):
            return 0
        n = min(req.prompt_len, left)
        self.tokens = self.budget - left + n
        return n
