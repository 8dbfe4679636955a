"""wrong: given-back-too-early

Gives back at the end of a request, whatever is in flight.
"""


class Scheduler:
    def _retire(self) -> None:
        for req in self._retiring:
            self.cache.close(req)
            self.table.give(req.row)
            req.table_idx = None
        self._retiring.clear()
