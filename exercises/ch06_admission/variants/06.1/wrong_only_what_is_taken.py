"""wrong: promises-forgotten

Looks at the pages that are free now, as chapter 05 does, and forgets what running requests will still take.
"""


class AdmittingAdder:
    def __init__(self, table: TableManager, cache: CacheManager, budget: int) -> None:
        super().__init__(table, cache, budget)
