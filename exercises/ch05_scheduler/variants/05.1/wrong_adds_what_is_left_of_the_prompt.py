"""wrong: not-what-try-add-said

Works out the number of tokens itself: right until chapter 07, where an adder gives a piece of the prompt.
"""


class PrefillManager:
    def schedule_next_batch(self) -> Batch | None:
        if not self.runnable:
            return None
        adder, batch = self.new_adder(), Batch("prefill")
        while (req := self.head()) is not None and (n := adder.try_add(req)):
            batch.add(req, req.prompt_len - req.cached_len)
            self.placed(req, n)
        return batch if batch.reqs else None
