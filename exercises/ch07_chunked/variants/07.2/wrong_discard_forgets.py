"""wrong: aborted-goes-on

Looks in the queue only: a prompt that was aborted half-way goes on.
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

    @property
    def runnable(self) -> bool:
        return self.chunking is not None or super().runnable
