"""wrong: samples-the-wrong-way-round

Asks the other way round: pieces sample, entries that reach the end of the prompt do not.
"""


class Batch:
    def add(self, req: Req, n: int) -> None:
        if req.cached_len + n == req.prompt_len:
            if self.emits is None:
                self.emits = list(range(len(self.reqs)))
        elif self.emits is not None:
            self.emits.append(len(self.reqs))
        self.reqs.append(req)
        self.uids.append(req.uid)
        self.starts.append(req.cached_len)
        self.lens.append(n)
        self.rows.append(req.row)
        self.ids += req.input_ids[req.cached_len : req.cached_len + n]
