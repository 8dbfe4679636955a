"""wrong: account-closed-twice

Closes the account of whoever ends: `_retire` does so, as soon as no batch in flight names him.
"""


class Scheduler:
    def commit(self, batch: Batch, tokens: list[int]) -> list[Event]:
        self._settled(batch)
        events = self.take_notes()
        for req, token in zip(batch.emitting, tokens, strict=True):
            if req.finish_reason is not None:
                continue
            req.input_ids.append(token)
            if token in req.stop_ids:
                self._finish(req, "stop")
                self.cache.close(req)
            elif len(req.input_ids) > req.limit:
                self._finish(req, "length")
                self.cache.close(req)
            events.append((req.uid, token, req.finish_reason))
        self._retire()
        return events
