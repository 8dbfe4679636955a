"""wrong: last-pieces-silent

Compares the piece with the whole prompt: the last piece of a prompt never samples.
"""


class Batch:
    def add(self, req: Req, n: int) -> None:
        start, entry = req.cached_len, len(self.reqs)
        self.reqs.append(req)
        self.uids.append(req.uid)
        self.starts.append(start)
        self.lens.append(n)
        self.rows.append(req.row)
        self.ids += req.input_ids[start : start + n]
        if n == req.prompt_len:
            if self.emits is not None:
                self.emits.append(entry)
        elif self.emits is None:
            self.emits = list(range(entry))
