"""wrong: limit-of-the-params

Counts to the max_tokens of the params: a request that was made for fewer never ends, and the engine spins.
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
            elif len(req.input_ids) - req.prompt_len == req.params.max_tokens:
                self._finish(req, "length")
            events.append((req.uid, token, req.finish_reason))
        self._retire()
        return events
