"""wrong: overtaken-too-often

Counts the rounds in which a request was overtaken, not the requests that did it.
"""


class BypassPrefillManager:
    def schedule_next_batch(self) -> Batch | None:
        if not self.runnable:
            return None
        adder, batch = self.new_adder(), Batch("prefill")
        refused: list[Req] = []
        passed: list[Req] = []
        for req in self.pending.values():
            if n := adder.try_add(req):
                batch.add(req, n)
                passed = list(refused)
            else:
                refused.append(req)
            if refused and (len(refused) > self.bound or self.overtaken.get(refused[0].uid, 0) >= self.bound):
                break
        for other in passed:
            self.overtaken[other.uid] = self.overtaken.get(other.uid, 0) + 1
        for req, n in zip(batch.reqs, batch.lens, strict=True):
            self.placed(req, n)
        return batch if batch.reqs else None
