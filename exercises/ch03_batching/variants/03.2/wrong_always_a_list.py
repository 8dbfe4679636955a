"""wrong: emits-not-none

Makes emits a list from the first entry on, also when all sample.
"""


class Req:
    @property
    def can_decode(self) -> bool:
        return self.cached_len in range(self.prompt_len, self.limit)


class Batch:
    def add(self, req: Req, n: int) -> None:
        samples = req.cached_len + n == req.prompt_len
        emits = list(range(len(self.reqs))) if self.emits is None else self.emits
        self.emits = [*emits, len(self.reqs)] if samples else emits
        values = (req, req.uid, req.cached_len, n, req.row)
        for column, value in zip((self.reqs, self.uids, self.starts, self.lens, self.rows), values, strict=True):
            column.append(value)
        self.ids += [req.input_ids[req.cached_len + i] for i in range(n)]

    @property
    def emitting(self) -> list[Req]:
        return [req for i, req in enumerate(self.reqs) if self.emits is None or i in self.emits]
