"""right: the decision in a method of its own"""


class PrefillAdder:
    def _fits(self, req: Req) -> bool:
        """Whether an opened request may start."""
        return self.need(req) <= self.room() and self.fits_budget(req.prompt_len - req.cached_len)

    def try_add(self, req: Req) -> int:
        if self.table.available == 0:
            return 0
        self.cache.open(req)
        if not self._fits(req):
            self.cache.close(req)
            return 0
        self.reserved += self.need(req)
        self.tokens += req.prompt_len - req.cached_len
        req.table_idx = self.table.take()
        return req.prompt_len - req.cached_len


class PrefillManager:
    def schedule_next_batch(self) -> Batch | None:
        added: list[tuple[Req, int]] = []
        batch, adder = Batch("prefill"), self.new_adder()
        while self.pending and self.table.available:
            req = self.head()
            n = adder.try_add(req) if req is not None else 0
            if req is None or not n:
                break
            batch.add(req, n)
            self.placed(req, n)
            added.append((req, n))
        return batch if added else None
