"""wrong: fitting-prompt-refused

Refuses a prompt that fills the limit, as if its first token had to be stored.
"""


class InputProcessor:
    def most_tokens(self, prompt_len: int, wanted: int) -> int:
        pool = self.parts.schedule.scheduler.cache.allocator.num_tokens
        limit = min(self.parts.max_seq_len, pool)
        if prompt_len >= limit:
            which = "context" if limit == self.parts.max_seq_len else "KV pool"
            raise ValueError(f"the prompt has {prompt_len} tokens; the {which} holds {limit}")
        return min(wanted, limit - prompt_len + 1)
