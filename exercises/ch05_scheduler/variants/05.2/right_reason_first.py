"""right: the reason is worked out before the request is touched"""


class Scheduler:
    @staticmethod
    def _why(req: Req, token: int) -> FinishReason | None:
        """Why `token` ends the request, if it does."""
        if token in req.stop_ids:
            return "stop"
        generated = len(req.input_ids) + 1 - req.prompt_len
        return "length" if generated == req.limit - req.prompt_len + 1 else None

    def commit(self, batch: Batch, tokens: list[int]) -> list[Event]:
        self._settled(batch)
        delivered = list(self.take_notes())
        alive = [(req, token) for req, token in zip(batch.emitting, tokens, strict=True) if req.finish_reason is None]
        for req, token in alive:
            reason = self._why(req, token)
            req.input_ids += [token]
            if reason:
                self._finish(req, reason)
            delivered += [(req.uid, token, reason)]
        self._retire()
        return delivered
