"""right: guard clauses the other way round, a for loop with a break"""


class PrefillAdder:
    def try_add(self, req: Req) -> int:
        if self.table.available > 0:
            self.cache.open(req)
            tokens = req.prompt_len - req.cached_len
            pages = self.need(req)
            if pages <= self.room() and self.fits_budget(tokens):
                row = self.table.take()
                req.table_idx = row
                self.tokens, self.reserved = self.tokens + tokens, self.reserved + pages
                return tokens
            self.cache.close(req)
        return 0


class PrefillManager:
    def schedule_next_batch(self) -> Batch | None:
        batch = Batch("prefill")
        if self.runnable:
            adder = self.new_adder()
            while True:
                req = self.head()
                if req is None:
                    break
                n = adder.try_add(req)
                if n == 0:
                    break
                batch.add(req, n)
                self.placed(req, n)
        if not batch.reqs:
            return None
        return batch
