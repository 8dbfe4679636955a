"""wrong: token-after-the-end

Treats a request that was aborted in flight like any other.
"""


class Scheduler:
    def commit(self, batch: Batch, tokens: list[int]) -> list[Event]:
        self._settled(batch)
        events = self.take_notes()
        for req, token in zip(batch.emitting, tokens, strict=True):
            req.input_ids.append(token)
            if req.finish_reason is None:
                if token in req.stop_ids:
                    self._finish(req, "stop")
                elif len(req.input_ids) > req.limit:
                    self._finish(req, "length")
            events.append((req.uid, token, req.finish_reason))
        self._retire()
        return events
