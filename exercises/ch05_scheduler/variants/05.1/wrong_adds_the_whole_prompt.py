"""wrong: not-what-try-add-said

Puts the whole prompt into the batch, also where open found a part of it.
"""


class PrefillManager:
    def schedule_next_batch(self) -> Batch | None:
        if not self.runnable:
            return None
        adder, batch = self.new_adder(), Batch("prefill")
        while (req := self.head()) is not None and (n := adder.try_add(req)):
            batch.add(req, req.prompt_len)
            self.placed(req, n)
        return batch if batch.reqs else None
