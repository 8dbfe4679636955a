"""wrong: queue-jumping

Goes on to the next request when one does not fit: a large one can be overtaken for ever.
"""


class PrefillManager:
    def schedule_next_batch(self) -> Batch | None:
        if not self.runnable:
            return None
        adder, batch = self.new_adder(), Batch("prefill")
        for req in list(self.pending.values()):
            n = adder.try_add(req)
            if n:
                batch.add(req, n)
                self.placed(req, n)
        return batch if batch.reqs else None
