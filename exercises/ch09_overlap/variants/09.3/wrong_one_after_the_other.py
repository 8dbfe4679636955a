"""wrong: counts-as-computed

Puts each request back and aborts it at once: an abort retires those of the batch that have not been put back yet.
"""


class Scheduler:
    def fail(self, batch: Batch) -> None:
        self._settled(batch)
        for req, start in zip(batch.reqs, batch.starts, strict=True):
            req.cached_len = min(req.cached_len, start)
            if self.abort(req.uid):
                req.error = "its forward pass raised"
        self._retire()
