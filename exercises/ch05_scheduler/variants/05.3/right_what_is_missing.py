"""right: by the number of pages held, for both phases"""


class CacheManager:
    def _grow_decode(self, batch: Batch) -> None:
        self._grow_prefill(batch)

    def _grow_prefill(self, batch: Batch) -> None:
        starts = [start if req.last_launch else 0 for start, req in zip(batch.starts, batch.reqs, strict=True)]
        missing: list[int] = []
        for req, start, n in zip(batch.reqs, batch.starts, batch.lens, strict=True):
            missing.append(max(0, self.allocator.pages_for(start + n) - len(req.pages)))
        pool, told = self._take_for(batch.reqs, missing), []
        for req, row, n, start in zip(batch.reqs, batch.rows, missing, starts, strict=True):
            known = len(req.pages) if start else 0
            for _ in range(n):
                req.pages.append(pool.pop(0))
            self.moves.extend(([page], req.uid) for page in req.pages[len(req.pages) - n :])
            told.extend((row, column, req.pages[column]) for column in range(known, len(req.pages)))
        batch.new_pages = ([r for r, _, _ in told], [c for _, c, _ in told], [p for _, _, p in told])
