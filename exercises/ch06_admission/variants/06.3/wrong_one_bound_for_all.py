"""wrong: stops-too-early

One count for the whole queue: after `bound` overtakings nobody is ever overtaken again.
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
                if refused:
                    self.overtaken[-1] = self.overtaken.get(-1, 0) + 1
            else:
                refused.append(req)
            if refused and (len(refused) > self.bound or self.overtaken.get(-1, 0) >= self.bound):
                break
        for req, n in zip(batch.reqs, batch.lens, strict=True):
            self.placed(req, n)
        return batch if batch.reqs else None
