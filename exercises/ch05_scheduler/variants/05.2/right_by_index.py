"""right: walks the entries by index"""


class Scheduler:
    def commit(self, batch: Batch, tokens: list[int]) -> list[Event]:
        self._settled(batch)
        events = self.take_notes()
        entries = list(range(len(batch.reqs))) if batch.emits is None else batch.emits
        for k in range(len(entries)):
            req, token = batch.reqs[entries[k]], tokens[k]
            if not req.finish_reason:
                req.input_ids.append(token)
                done = len(req.input_ids) == req.limit + 1
                if token in req.stop_ids or done:
                    self._finish(req, "stop" if token in req.stop_ids else "length")
                events.append((req.uid, token, req.finish_reason))
        self._retire()
        return events
