"""wrong: given-back-too-early

Gives back when the last batch that names the request is the next to be settled.
"""


class Scheduler:
    def _retire(self) -> None:
        waiting: deque[Req] = deque()
        for req in self._retiring:
            if req.last_launch > self.committed + 1:
                waiting.append(req)
                continue
            self.cache.close(req)
            self.table.give(req.row)
            req.table_idx = None
        self._retiring = waiting
