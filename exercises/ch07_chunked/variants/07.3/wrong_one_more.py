"""wrong: decode-waits-too-long

One prefill round more than allowed.
"""


class Interleave:
    def choose(self, prefill: PrefillManager, decode: DecodeManager) -> Batch | None:
        due = decode.running and self.waited > self.prefills
        if not due and (batch := prefill.schedule_next_batch()) is not None:
            self.waited = self.waited + 1 if decode.running else 0
            return batch
        self.waited = 0
        return decode.schedule_next_batch()
