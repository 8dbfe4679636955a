"""wrong: counts-as-computed

Puts back those who live; who was aborted in flight counts as computed.
"""


class Scheduler:
    def fail(self, batch: Batch) -> None:
        self._settled(batch)
        for req, start in zip(batch.reqs, batch.starts, strict=True):
            if req.finish_reason is None:
                req.cached_len = min(req.cached_len, start)
        for req in batch.reqs:
            if self.abort(req.uid):
                req.error = "its forward pass raised"
        self._retire()
