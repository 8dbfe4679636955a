"""wrong: placed-not-told

Takes requests out of the queue itself, without a word to `placed`.
"""


class PrefillManager:
    def schedule_next_batch(self) -> Batch | None:
        if not self.runnable:
            return None
        adder, batch = self.new_adder(), Batch("prefill")
        while (req := self.head()) is not None and (n := adder.try_add(req)):
            batch.add(req, n)
            self.pending.popitem(last=False)
        return batch if batch.reqs else None
