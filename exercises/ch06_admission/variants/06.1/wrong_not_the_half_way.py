"""wrong: half-way-not-promised

Promises only to those who decode: a prompt that is computed in part may ask for pages, too.
"""


class AdmittingAdder:
    def __init__(self, table: TableManager, cache: CacheManager, budget: int) -> None:
        super().__init__(table, cache, budget)
        running = [req for req in cache.accounts.values() if req.can_decode and req.finish_reason is None]
        self.reserved = sum(self.need(req) for req in running)

    def need(self, req: Req) -> int:
        return self.cache.allocator.pages_for(req.limit) - len(req.pages)
