"""right: a copy of the queue, everybody's count looked at"""


class BypassPrefillManager:
    def schedule_next_batch(self) -> Batch | None:
        if not self.pending or not self.table.available:
            return None
        adder, batch, behind = self.new_adder(), Batch("prefill"), []
        for req in list(self.pending.values()):
            if len(behind) > self.bound or any(self.overtaken.get(uid, 0) == self.bound for uid in behind):
                break
            n = adder.try_add(req)
            if n == 0:
                behind += [req.uid]
                continue
            batch.add(req, n)
            self.placed(req, n)
            self.overtaken.update({uid: self.overtaken.get(uid, 0) + 1 for uid in behind})
        return None if not batch.reqs else batch
