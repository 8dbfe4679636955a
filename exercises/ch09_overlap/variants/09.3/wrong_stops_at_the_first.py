"""wrong: held-too-long

Who may not leave yet keeps those behind him.
"""


class Scheduler:
    def _retire(self) -> None:
        while self._retiring and self._retiring[0].last_launch <= self.committed:
            req = self._retiring.popleft()
            self.cache.close(req)
            self.table.give(req.row)
            req.table_idx = None
