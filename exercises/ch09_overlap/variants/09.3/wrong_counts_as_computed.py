"""wrong: counts-as-computed

Aborts the requests and leaves what they were to compute.
"""


class Scheduler:
    def fail(self, batch: Batch) -> None:
        self._settled(batch)
        for req in batch.reqs:
            if self.abort(req.uid):
                req.error = "its forward pass raised"
        self._retire()
