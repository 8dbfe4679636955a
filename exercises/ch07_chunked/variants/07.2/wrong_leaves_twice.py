"""wrong: raised-KeyError

Takes a request out of the queue with each of its pieces.
"""


class ChunkedPrefillManager:
    def head(self) -> Req | None:
        return self.chunking or super().head()

    def placed(self, req: Req, n: int) -> None:
        super().placed(req, n)
        self.chunking = req if req.cached_len + n < req.prompt_len else None

    def discard(self, req: Req) -> None:
        super().discard(req)
        if req is self.chunking:
            self.chunking = None

    @property
    def runnable(self) -> bool:
        return self.chunking is not None or super().runnable
