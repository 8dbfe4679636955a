"""wrong: half-way-overtaken

Puts a prompt that is half-way at the end of the queue.
"""


class ChunkedPrefillManager:
    def head(self) -> Req | None:
        return super().head()

    def placed(self, req: Req, n: int) -> None:
        super().placed(req, n)
        if req.cached_len + n < req.prompt_len:
            self.add(req)

    def discard(self, req: Req) -> None:
        super().discard(req)

    @property
    def runnable(self) -> bool:
        first = super().head()
        return first is not None and (first.table_idx is not None or super().runnable)
