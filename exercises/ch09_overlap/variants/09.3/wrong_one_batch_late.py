"""wrong: held-too-long

Waits for one batch more than names the request.
"""


class Scheduler:
    def _retire(self) -> None:
        waiting: deque[Req] = deque()
        for req in self._retiring:
            if req.last_launch >= self.committed:
                waiting.append(req)
                continue
            self.cache.close(req)
            self.table.give(req.row)
            req.table_idx = None
        self._retiring = waiting
