"""wrong: counts-as-computed

Sets cached_len to where the batch began, although an earlier failure had put it back further.
"""


class Scheduler:
    def fail(self, batch: Batch) -> None:
        self._settled(batch)
        for req, start in zip(batch.reqs, batch.starts, strict=True):
            req.cached_len = start
        for req in batch.reqs:
            if self.abort(req.uid):
                req.error = "its forward pass raised"
        self._retire()
