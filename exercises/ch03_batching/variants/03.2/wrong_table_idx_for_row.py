"""wrong: row-not-asked

Takes table_idx, which may be None.
"""


class Batch:
    def add(self, req: Req, n: int) -> None:
        start, entry = req.cached_len, len(self.reqs)
        self.reqs.append(req)
        self.uids.append(req.uid)
        self.starts.append(start)
        self.lens.append(n)
        self.rows.append(req.table_idx)
        self.ids += req.input_ids[start : start + n]
        reaches_end = start + n >= req.prompt_len
        if self.emits is not None:
            if reaches_end:
                self.emits.append(entry)
        elif not reaches_end:
            self.emits = list(range(entry))
