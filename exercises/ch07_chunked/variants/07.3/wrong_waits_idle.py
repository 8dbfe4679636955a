"""wrong: idle-with-work

When the queue has nothing that fits and no decode round is due, it does nothing.
"""


class Interleave:
    def choose(self, prefill: PrefillManager, decode: DecodeManager) -> Batch | None:
        if decode.running and self.waited >= self.prefills:
            self.waited = 0
            return decode.schedule_next_batch()
        batch = prefill.schedule_next_batch()
        if batch is not None:
            self.waited = self.waited + 1 if decode.running else 0
        return batch
