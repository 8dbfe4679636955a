"""wrong: nobody-waited

Counts prefill rounds during which nobody decoded.
"""


class Interleave:
    def choose(self, prefill: PrefillManager, decode: DecodeManager) -> Batch | None:
        due = decode.running and self.waited >= self.prefills
        if not due and (batch := prefill.schedule_next_batch()) is not None:
            self.waited += 1
            return batch
        self.waited = 0
        return decode.schedule_next_batch()
