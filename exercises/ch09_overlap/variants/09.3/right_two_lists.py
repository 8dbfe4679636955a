"""right: sorts them into two lists first"""


class Scheduler:
    def _retire(self) -> None:
        leaving = [req for req in self._retiring if self.committed >= req.last_launch]
        self._retiring = deque(req for req in self._retiring if self.committed < req.last_launch)
        for req in leaving:
            self.cache.close(req)
            self.table.give(req.row)
            req.table_idx = None

    def fail(self, batch: Batch) -> None:
        self._settled(batch)
        for i in range(len(batch.reqs)):
            if batch.reqs[i].cached_len > batch.starts[i]:
                batch.reqs[i].cached_len = batch.starts[i]
        for uid in [req.uid for req in batch.reqs if req.finish_reason is None]:
            self.live[uid].error = "its forward pass raised"
            self.abort(uid)
        self._retire()
