"""wrong: prompts-starve

Whoever decodes goes first: a prompt begins when nobody decodes any more.
"""


class Interleave:
    def choose(self, prefill: PrefillManager, decode: DecodeManager) -> Batch | None:
        return decode.schedule_next_batch() or prefill.schedule_next_batch()
