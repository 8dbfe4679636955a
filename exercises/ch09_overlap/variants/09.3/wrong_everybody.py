"""wrong: hits-the-others

One failed batch ends every request there is.
"""


class Scheduler:
    def fail(self, batch: Batch) -> None:
        self._settled(batch)
        for req, start in zip(batch.reqs, batch.starts, strict=True):
            req.cached_len = min(req.cached_len, start)
        for req in list(self.live.values()):
            if self.abort(req.uid):
                req.error = "its forward pass raised"
        self._retire()
