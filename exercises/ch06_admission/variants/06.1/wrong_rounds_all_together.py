"""wrong: rounded-all-together

Adds up positions and rounds once: as if two half-full pages of two requests were one page.
"""


class AdmittingAdder:
    def __init__(self, table: TableManager, cache: CacheManager, budget: int) -> None:
        super().__init__(table, cache, budget)

        running = [req for req in cache.accounts.values() if req.finish_reason is None]
        positions = sum(req.limit for req in running)
        self.reserved = cache.allocator.pages_for(positions) - sum(len(req.pages) for req in running)
