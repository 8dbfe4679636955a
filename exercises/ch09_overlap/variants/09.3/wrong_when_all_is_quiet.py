"""wrong: held-too-long

Waits until nothing at all is in flight: with overlap, something always is.
"""


class Scheduler:
    def _retire(self) -> None:
        if self.launched > self.committed:
            return
        for req in self._retiring:
            self.cache.close(req)
            self.table.give(req.row)
            req.table_idx = None
        self._retiring.clear()
