"""right: as in mini-sglang, a prompt that is half-way goes back to the front of the queue"""


class ChunkedPrefillManager:
    def head(self) -> Req | None:
        return super().head()

    def placed(self, req: Req, n: int) -> None:
        if req.cached_len + n == req.prompt_len:
            super().placed(req, n)
            return
        self.pending[req.uid] = req
        self.pending.move_to_end(req.uid, last=False)

    def discard(self, req: Req) -> None:
        super().discard(req)

    @property
    def runnable(self) -> bool:
        first = super().head()
        return first is not None and (first.table_idx is not None or self.table.available > 0)
