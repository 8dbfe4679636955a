"""wrong: ended-without-finish

Sets the reason itself: the request stays in `live` and in the decode set.
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
                req.finish_reason = "stop"
            elif len(req.input_ids) > req.limit:
                req.finish_reason = "length"
            events.append((req.uid, token, req.finish_reason))
        self._retire()
        return events
