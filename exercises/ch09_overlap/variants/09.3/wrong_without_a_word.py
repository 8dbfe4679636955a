"""wrong: abort-not-told-once

Ends the requests without an event: whoever waits for them waits for ever.
"""


class Scheduler:
    def fail(self, batch: Batch) -> None:
        self._settled(batch)
        for req, start in zip(batch.reqs, batch.starts, strict=True):
            req.cached_len = min(req.cached_len, start)
        for req in batch.reqs:
            if self.end(req.uid, "abort"):
                req.error = "its forward pass raised"
        self._retire()
