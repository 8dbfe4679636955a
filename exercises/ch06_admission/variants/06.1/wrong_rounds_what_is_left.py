"""wrong: begun-page-counted-again

Rounds up the positions that are left, though the first of them may lie in a page that is held already.
"""


class AdmittingAdder:
    def need(self, req: Req) -> int:
        return self.cache.allocator.pages_for(req.limit - req.cached_len)
