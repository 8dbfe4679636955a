"""wrong: decode-waits-too-long

Chapter 05's policy: a decode round when nothing else is left.
"""


class Interleave:
    def choose(self, prefill: PrefillManager, decode: DecodeManager) -> Batch | None:
        return prefill.schedule_next_batch() or decode.schedule_next_batch()
