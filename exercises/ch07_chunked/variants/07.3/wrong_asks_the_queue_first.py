"""wrong: batch-thrown-away

Asks the queue in any case: when a decode round is due, the requests that were just admitted are lost.
"""


class Interleave:
    def choose(self, prefill: PrefillManager, decode: DecodeManager) -> Batch | None:
        batch = prefill.schedule_next_batch()
        if batch is not None and not (decode.running and self.waited >= self.prefills):
            self.waited = self.waited + 1 if decode.running else 0
            return batch
        self.waited = 0
        return decode.schedule_next_batch()
