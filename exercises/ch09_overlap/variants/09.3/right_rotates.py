"""right: goes once around the queue"""


class Scheduler:
    def _retire(self) -> None:
        for _ in range(len(self._retiring)):
            req = self._retiring.popleft()
            if req.last_launch <= self.committed:
                self.table.give(req.row)
                self.cache.close(req)
                req.table_idx = None
            else:
                self._retiring.append(req)
