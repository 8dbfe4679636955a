"""wrong: row-not-returned

Forgets to give the row back.
"""


class Scheduler:
    def _retire(self) -> None:
        waiting: deque[Req] = deque()
        for req in self._retiring:
            if req.last_launch > self.committed:
                waiting.append(req)
                continue
            self.cache.close(req)
            req.table_idx = None
        self._retiring = waiting
