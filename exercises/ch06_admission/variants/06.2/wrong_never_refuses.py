"""wrong: impossible-let-in

Lets everybody in.
"""


class InputProcessor:
    def most_tokens(self, prompt_len: int, wanted: int) -> int:
        pool = self.parts.schedule.scheduler.cache.allocator.num_tokens
        limit = min(self.parts.max_seq_len, pool)
        return max(1, min(wanted, limit - prompt_len + 1))
