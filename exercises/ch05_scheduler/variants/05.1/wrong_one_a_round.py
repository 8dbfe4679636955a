"""wrong: one-request-a-round

Admits only the head, though others would fit beside it.
"""


class PrefillManager:
    def schedule_next_batch(self) -> Batch | None:
        if not self.runnable:
            return None
        adder, batch = self.new_adder(), Batch("prefill")
        req = self.head()
        if req is not None and (n := adder.try_add(req)):
            batch.add(req, n)
            self.placed(req, n)
        return batch if batch.reqs else None
