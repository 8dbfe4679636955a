"""wrong: batch-not-settled

Leaves out `_settled`: every batch counts as in flight for ever.
"""


class Scheduler:
    def commit(self, batch: Batch, tokens: list[int]) -> list[Event]:
        events = self.take_notes()
        for req, token in zip(batch.emitting, tokens, strict=True):
            if req.finish_reason is not None:
                continue
            req.input_ids.append(token)
            if token in req.stop_ids:
                self._finish(req, "stop")
            elif len(req.input_ids) > req.limit:
                self._finish(req, "length")
            events.append((req.uid, token, req.finish_reason))
        self._retire()
        return events
