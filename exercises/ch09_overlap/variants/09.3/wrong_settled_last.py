"""wrong: settled-out-of-order

Checks the order when everything has been changed.
"""


class Scheduler:
    def fail(self, batch: Batch) -> None:
        for req, start in zip(batch.reqs, batch.starts, strict=True):
            req.cached_len = min(req.cached_len, start)
        for req in batch.reqs:
            if self.abort(req.uid):
                req.error = "its forward pass raised"
        self._settled(batch)
        self._retire()
