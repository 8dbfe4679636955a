"""wrong: finished-prompt-kept

Notes who is half-way, and never that it is not any more.
"""


class ChunkedPrefillManager:
    def head(self) -> Req | None:
        return self.chunking or super().head()

    def placed(self, req: Req, n: int) -> None:
        if req is not self.chunking:
            super().placed(req, n)
            if req.cached_len + n < req.prompt_len:
                self.chunking = req

    def discard(self, req: Req) -> None:
        super().discard(req)
        if req is self.chunking:
            self.chunking = None

    @property
    def runnable(self) -> bool:
        return self.chunking is not None or super().runnable
