"""wrong: pieces-sample

Lets every entry sample: a piece of a prompt would answer a question that is not read to its end.
"""


class Batch:
    def add(self, req: Req, n: int) -> None:
        self.reqs.append(req)
        self.uids.append(req.uid)
        self.starts.append(req.cached_len)
        self.lens.append(n)
        self.rows.append(req.row)
        self.ids += req.input_ids[req.cached_len : req.cached_len + n]
