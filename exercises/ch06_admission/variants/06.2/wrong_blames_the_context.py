"""wrong: wrong-limit-named

Always says that it is the context.
"""


class InputProcessor:
    def most_tokens(self, prompt_len: int, wanted: int) -> int:
        pool = self.parts.schedule.scheduler.cache.allocator.num_tokens
        limit = min(self.parts.max_seq_len, pool)
        if prompt_len > limit:
            raise ValueError(f"the prompt has {prompt_len} tokens; the context holds {limit}")
        return min(wanted, limit - prompt_len + 1)
