"""wrong: nobody-overtakes

Chapter 05's queue: stops at the first that does not fit.
"""


class BypassPrefillManager:
    def schedule_next_batch(self) -> Batch | None:
        if not self.runnable:
            return None
        adder, batch = self.new_adder(), Batch("prefill")
        for req in self.pending.values():
            if not (n := adder.try_add(req)):
                break
            batch.add(req, n)
        for req, n in zip(batch.reqs, batch.lens, strict=True):
            self.placed(req, n)
        return batch if batch.reqs else None
