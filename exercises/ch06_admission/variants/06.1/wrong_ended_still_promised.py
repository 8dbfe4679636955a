"""wrong: ended-still-promised

Keeps a promise to requests that have ended and only wait for their batch to settle.
"""


class AdmittingAdder:
    def __init__(self, table: TableManager, cache: CacheManager, budget: int) -> None:
        super().__init__(table, cache, budget)

        self.reserved = sum(self.need(req) for req in cache.accounts.values())
