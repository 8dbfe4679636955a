"""wrong: context-ignored

Looks at the pool only.
"""


class InputProcessor:
    def most_tokens(self, prompt_len: int, wanted: int) -> int:
        limit = self.parts.schedule.scheduler.cache.allocator.num_tokens
        if prompt_len > limit:
            which = "context" if limit == self.parts.max_seq_len else "KV pool"
            raise ValueError(f"the prompt has {prompt_len} tokens; the {which} holds {limit}")
        return min(wanted, limit - prompt_len + 1)
