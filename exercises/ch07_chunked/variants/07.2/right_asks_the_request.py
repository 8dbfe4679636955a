"""right: whoever has a row has left the queue"""


class ChunkedPrefillManager:
    def head(self) -> Req | None:
        return super().head() if self.chunking is None else self.chunking

    def placed(self, req: Req, n: int) -> None:
        left = req.prompt_len - req.cached_len - n
        if req.uid in self.pending:
            super().placed(req, n)
        self.chunking = req if left else None

    def discard(self, req: Req) -> None:
        if self.chunking is not None and self.chunking.uid == req.uid:
            self.chunking = None
            return
        super().discard(req)

    @property
    def runnable(self) -> bool:
        if self.chunking is None:
            return len(self.pending) > 0 and self.table.available > 0
        return True
