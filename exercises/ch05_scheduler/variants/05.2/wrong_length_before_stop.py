"""wrong: stop-reported-as-length

Looks at the length first: a stop in the last allowed step is called "length", and its token is shown to the user.
"""


class Scheduler:
    def commit(self, batch: Batch, tokens: list[int]) -> list[Event]:
        self._settled(batch)
        events = self.take_notes()
        for req, token in zip(batch.emitting, tokens, strict=True):
            if req.finish_reason is not None:
                continue
            req.input_ids.append(token)
            if len(req.input_ids) > req.limit:
                self._finish(req, "length")
            elif token in req.stop_ids:
                self._finish(req, "stop")
            events.append((req.uid, token, req.finish_reason))
        self._retire()
        return events
