"""right: the round that is due comes first"""


class Interleave:
    def choose(self, prefill: PrefillManager, decode: DecodeManager) -> Batch | None:
        if decode.running and self.waited >= self.prefills:
            self.waited = 0
            return decode.schedule_next_batch()
        batch = prefill.schedule_next_batch()
        if batch is None:
            self.waited = 0
            return decode.schedule_next_batch()
        self.waited = (self.waited + 1) * bool(decode.running)
        return batch
