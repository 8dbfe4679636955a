"""wrong: not-a-copy

Computes the list of those that sample when it is asked for: by then the requests have moved on.
"""


class Batch:
    @property
    def emitting(self) -> list[Req]:
        return [req for req, n in zip(self.reqs, self.lens, strict=True) if req.cached_len + n >= req.prompt_len]
