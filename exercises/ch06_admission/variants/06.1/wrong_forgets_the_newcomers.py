"""wrong: promised-too-much

Keeps the promises apart from `reserved`, and so forgets them when the first newcomer is admitted.
"""


class AdmittingAdder:
    def __init__(self, table: TableManager, cache: CacheManager, budget: int) -> None:
        super().__init__(table, cache, budget)

        self.promised = sum(self.need(req) for req in cache.accounts.values() if req.finish_reason is None)

    def room(self) -> int:
        return self.cache.room() - (self.reserved or self.promised)
