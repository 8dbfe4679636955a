"""wrong: prompts-starve

Does not start the count anew: from the first decode round on, every round is one.
"""


class Interleave:
    def choose(self, prefill: PrefillManager, decode: DecodeManager) -> Batch | None:
        due = decode.running and self.waited >= self.prefills
        if not due and (batch := prefill.schedule_next_batch()) is not None:
            self.waited = self.waited + 1 if decode.running else 0
            return batch
        return decode.schedule_next_batch()
