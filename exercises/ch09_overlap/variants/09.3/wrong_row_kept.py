"""wrong: row-not-cleared

Gives the row back and goes on naming it.
"""


class Scheduler:
    def _retire(self) -> None:
        waiting: deque[Req] = deque()
        for req in self._retiring:
            if req.last_launch > self.committed:
                waiting.append(req)
                continue
            self.cache.close(req)
            self.table.give(req.row)
        self._retiring = waiting
