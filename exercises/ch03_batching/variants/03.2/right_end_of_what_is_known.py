"""right: the end of the prompt found as the end of input_ids

While a request prefills, nothing has been sampled: its ids are its prompt.
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
        reaches_end = start + n >= len(req.input_ids)
        if self.emits is not None:
            if reaches_end:
                self.emits.append(entry)
        elif not reaches_end:
            self.emits = list(range(entry))
