"""wrong: idle-with-work

Holds a decode round for due although whoever waited for it has gone.
"""


class Interleave:
    def choose(self, prefill: PrefillManager, decode: DecodeManager) -> Batch | None:
        due = self.waited >= self.prefills
        batch = None if due else prefill.schedule_next_batch()
        if batch is not None and decode.running:
            self.waited += 1
        else:
            self.waited = 0
        return batch or decode.schedule_next_batch()
