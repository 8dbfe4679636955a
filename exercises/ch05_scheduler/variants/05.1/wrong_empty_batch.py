"""wrong: empty-batch

Returns a batch without requests where None is asked for: the engine then never decodes.
"""


class PrefillManager:
    def schedule_next_batch(self) -> Batch | None:
        if not self.runnable:
            return None
        adder, batch = self.new_adder(), Batch("prefill")
        while (req := self.head()) is not None and (n := adder.try_add(req)):
            batch.add(req, n)
            self.placed(req, n)
        return batch
