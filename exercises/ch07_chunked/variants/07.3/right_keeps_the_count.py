"""right: a prefill round for which nobody waits leaves the count as it is"""


class Interleave:
    def choose(self, prefill: PrefillManager, decode: DecodeManager) -> Batch | None:
        running = bool(decode.running)
        if not (running and self.waited >= self.prefills):
            batch = prefill.schedule_next_batch()
            if batch is not None:
                self.waited += running
                return batch
        self.waited = 0
        return decode.schedule_next_batch()
