"""wrong: overtaken-too-often

Never stops: a large request can be overtaken for ever.
"""


class BypassPrefillManager:
    def schedule_next_batch(self) -> Batch | None:
        if not self.runnable:
            return None
        adder, batch = self.new_adder(), Batch("prefill")
        refused = 0
        for req in self.pending.values():
            if n := adder.try_add(req):
                batch.add(req, n)
            else:
                refused += 1
            if refused > self.bound:
                break
        for req, n in zip(batch.reqs, batch.lens, strict=True):
            self.placed(req, n)
        return batch if batch.reqs else None
