"""wrong: last-token-counted

Promises a place for the last token too, which is never stored: a request that just fits the pool never starts.
"""


class AdmittingAdder:
    def need(self, req: Req) -> int:
        return self.cache.allocator.pages_for(req.limit + 1) - len(req.pages)
