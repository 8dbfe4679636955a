"""wrong: add-moves-the-request

Counts the tokens as computed when they are only planned; the planner does that, once, for the whole batch.
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
        req.cached_len += n
        if start + n >= req.prompt_len:
            if self.emits is not None:
                self.emits.append(entry)
        elif self.emits is None:
            self.emits = list(range(entry))
