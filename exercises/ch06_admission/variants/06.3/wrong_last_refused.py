"""wrong: overtaken-too-often

Looks at the one that was refused last: those before it have higher counts.
"""


class BypassPrefillManager:
    def schedule_next_batch(self) -> Batch | None:
        if not self.runnable:
            return None
        adder, batch = self.new_adder(), Batch("prefill")
        refused: list[Req] = []
        for req in self.pending.values():
            if n := adder.try_add(req):
                batch.add(req, n)
                for other in refused:
                    self.overtaken[other.uid] = self.overtaken.get(other.uid, 0) + 1
            else:
                refused.append(req)
            if refused and (len(refused) > self.bound or self.overtaken.get(refused[-1].uid, 0) >= self.bound):
                break
        for req, n in zip(batch.reqs, batch.lens, strict=True):
            self.placed(req, n)
        return batch if batch.reqs else None
