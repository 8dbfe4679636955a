"""wrong: wrong-tokens-in-the-entry

Takes the first n tokens of the prompt, whatever is computed already.
"""


class Batch:
    def add(self, req: Req, n: int) -> None:
        start, entry = req.cached_len, len(self.reqs)
        self.reqs.append(req)
        self.uids.append(req.uid)
        self.starts.append(start)
        self.lens.append(n)
        self.rows.append(req.row)
        self.ids += req.input_ids[:n]
        if start + n >= req.prompt_len:
            if self.emits is not None:
                self.emits.append(entry)
        elif self.emits is None:
            self.emits = list(range(entry))
