"""right: two loops, the admitted collected first"""


class BypassPrefillManager:
    def placed(self, req: Req, n: int) -> None:
        if req.uid in self.overtaken:
            del self.overtaken[req.uid]
        del self.pending[req.uid]

    def discard(self, req: Req) -> None:
        if req.uid in self.overtaken:
            del self.overtaken[req.uid]
        self.pending.pop(req.uid, None)

    def _may_pass(self, waiting: list[Req]) -> bool:
        """Whether all of them may be overtaken once more."""
        return len(waiting) <= self.bound and all(self.overtaken.setdefault(r.uid, 0) < self.bound for r in waiting)

    def schedule_next_batch(self) -> Batch | None:
        batch = Batch("prefill")
        if not self.runnable:
            return None
        adder = self.new_adder()
        waiting: list[Req] = []
        queue = iter(tuple(self.pending.values()))
        while self._may_pass(waiting) and (req := next(queue, None)) is not None:
            if (n := adder.try_add(req)) > 0:
                batch.add(req, n)
                for other in waiting:
                    self.overtaken[other.uid] += 1
            else:
                waiting.append(req)
        for k, req in enumerate(batch.reqs):
            self.placed(req, batch.lens[k])
        return batch if len(batch.reqs) else None
