"""wrong: numbers-not-told

Refuses without saying how much too long the prompt is.
"""


class InputProcessor:
    def most_tokens(self, prompt_len: int, wanted: int) -> int:
        pool = self.parts.schedule.scheduler.cache.allocator.num_tokens
        limit = min(self.parts.max_seq_len, pool)
        if prompt_len > limit:
            which = "context" if limit == self.parts.max_seq_len else "KV pool"
            raise ValueError(f"the prompt is longer than the {which}")
        return min(wanted, limit - prompt_len + 1)
