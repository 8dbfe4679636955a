"""right: all promises less all pages held, each rounded by itself"""


class AdmittingAdder:
    def __init__(self, table: TableManager, cache: CacheManager, budget: int) -> None:
        PrefillAdder.__init__(self, table, cache, budget)
        pages_for = cache.allocator.pages_for
        running = [req for req in cache.accounts.values() if req.finish_reason is None]
        self.reserved = sum(pages_for(r.limit) for r in running) - sum(len(r.pages) for r in running)

    def need(self, req: Req) -> int:
        size = self.cache.allocator.page_size
        whole, rest = divmod(req.limit, size)
        return whole + (1 if rest else 0) - len(req.pages)
