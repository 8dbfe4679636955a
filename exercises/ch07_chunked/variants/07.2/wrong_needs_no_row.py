"""wrong: wrong-runnable

Forgets that somebody who waits needs a free row.
"""


class ChunkedPrefillManager:
    def head(self) -> Req | None:
        return self.chunking or super().head()

    def placed(self, req: Req, n: int) -> None:
        if req is not self.chunking:
            super().placed(req, n)
        self.chunking = req if req.cached_len + n < req.prompt_len else None

    def discard(self, req: Req) -> None:
        super().discard(req)
        if req is self.chunking:
            self.chunking = None

    @property
    def runnable(self) -> bool:
        return self.chunking is not None or bool(self.pending)
