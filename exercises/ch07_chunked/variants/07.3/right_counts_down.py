"""right: counts the rounds that are left, in the same field"""


class Interleave:
    def choose(self, prefill: PrefillManager, decode: DecodeManager) -> Batch | None:
        waiting = len(decode.running)
        if not waiting:
            self.waited = 0
            return prefill.schedule_next_batch()
        batch = None if self.prefills - self.waited <= 0 else prefill.schedule_next_batch()
        if batch:
            self.waited += 1
            return batch
        self.waited -= self.waited
        return decode.schedule_next_batch()
