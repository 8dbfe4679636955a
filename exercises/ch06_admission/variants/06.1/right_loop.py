"""right: a loop, and the last page found by index"""


class AdmittingAdder:
    def __init__(self, table: TableManager, cache: CacheManager, budget: int) -> None:
        super().__init__(table, cache, budget)

        for req in list(cache.accounts.values()):
            if not req.finish_reason:
                self.reserved += self.need(req)

    def need(self, req: Req) -> int:
        last = (req.limit - 1) // self.cache.allocator.page_size
        return last + 1 - len(req.pages)
