"""wrong: half-way-forgotten

Takes the second piece for the last.
"""


class ChunkedPrefillManager:
    def head(self) -> Req | None:
        return self.chunking or super().head()

    def placed(self, req: Req, n: int) -> None:
        if req is self.chunking:
            self.chunking = None
            return
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
