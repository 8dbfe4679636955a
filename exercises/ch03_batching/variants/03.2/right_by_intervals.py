"""right: the interval spelled out, emits built before the entry is appended"""


class Req:
    @property
    def can_decode(self) -> bool:
        if self.cached_len < self.prompt_len:
            return False
        return self.limit - self.cached_len > 0


class Batch:
    def add(self, req: Req, n: int) -> None:
        begin, end = req.cached_len, req.cached_len + n
        if end < req.prompt_len and self.emits is None:
            self.emits = [*range(len(self.reqs))]
        elif end >= req.prompt_len and self.emits is not None:
            self.emits.append(len(self.reqs))
        self.reqs.append(req)
        self.uids.append(req.uid)
        self.rows.append(req.row)
        self.starts.append(begin)
        self.lens.append(n)
        self.ids.extend(req.input_ids[begin:end])

    @property
    def emitting(self) -> list[Req]:
        chosen = range(len(self.reqs)) if self.emits is None else self.emits
        return [self.reqs[i] for i in chosen]
