"""wrong: not-what-try-add-said

Tells `placed` the length of the prompt instead of what is computed in this round.
"""


class PrefillManager:
    def schedule_next_batch(self) -> Batch | None:
        if not self.runnable:
            return None
        adder, batch = self.new_adder(), Batch("prefill")
        while (req := self.head()) is not None and (n := adder.try_add(req)):
            batch.add(req, n)
            self.placed(req, req.prompt_len)
        return batch if batch.reqs else None
