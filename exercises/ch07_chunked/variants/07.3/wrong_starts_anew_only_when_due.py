"""wrong: decode-too-soon

A decode round that came by itself, because nothing was waiting, does not start the count anew.
"""


class Interleave:
    def choose(self, prefill: PrefillManager, decode: DecodeManager) -> Batch | None:
        if decode.running and self.waited >= self.prefills:
            self.waited = 0
            return decode.schedule_next_batch()
        if (batch := prefill.schedule_next_batch()) is not None:
            self.waited = self.waited + 1 if decode.running else 0
            return batch
        return decode.schedule_next_batch()
