"""wrong: planned-taken-for-sampled

Ends a request that has nothing left to decode: right only while no other batch is in flight.
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
            elif not req.can_decode:
                self._finish(req, "length")
            events.append((req.uid, token, req.finish_reason))
        self._retire()
        return events
