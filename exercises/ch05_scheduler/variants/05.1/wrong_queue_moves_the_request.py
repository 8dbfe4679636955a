"""wrong: admission-moves-the-request

Moves cached_len when the request is in the batch: `plan` does so again.
"""


class PrefillManager:
    def schedule_next_batch(self) -> Batch | None:
        if not self.runnable:
            return None
        adder, batch = self.new_adder(), Batch("prefill")
        while (req := self.head()) is not None and (n := adder.try_add(req)):
            batch.add(req, n)
            self.placed(req, n)
            req.cached_len += n
        return batch if batch.reqs else None
