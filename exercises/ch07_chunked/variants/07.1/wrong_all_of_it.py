"""wrong: budget-overrun

Admits a prompt of any length while there is budget left, and computes all of it.
"""


class ChunkedAdder:
    def fits_budget(self, n: int) -> bool:
        return self.tokens < self.budget

    def try_add(self, req: Req) -> int:
        if not self.fits_budget(1):
            return 0
        if req.table_idx is None:
            return super().try_add(req)
        n = req.prompt_len - req.cached_len
        self.tokens += n
        return n
