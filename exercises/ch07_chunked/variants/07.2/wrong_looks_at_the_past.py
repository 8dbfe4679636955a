"""wrong: finished-prompt-kept

Forgets that cached_len moves only afterwards: a prompt that is computed whole counts as half-way, and blocks the queue.
"""


class ChunkedPrefillManager:
    def head(self) -> Req | None:
        return self.chunking or super().head()

    def placed(self, req: Req, n: int) -> None:
        if req is not self.chunking:
            super().placed(req, n)
        self.chunking = req if req.cached_len < req.prompt_len else None

    def discard(self, req: Req) -> None:
        super().discard(req)
        if req is self.chunking:
            self.chunking = None

    @property
    def runnable(self) -> bool:
        return self.chunking is not None or super().runnable
