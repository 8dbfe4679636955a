"""wrong: refused-instead-of-cut

Refuses whoever asks for more than fits, though an answer of fewer tokens would.
"""


class InputProcessor:
    def most_tokens(self, prompt_len: int, wanted: int) -> int:
        pool = self.parts.schedule.scheduler.cache.allocator.num_tokens
        limit = min(self.parts.max_seq_len, pool)
        if prompt_len + wanted - 1 > limit:
            which = "context" if limit == self.parts.max_seq_len else "KV pool"
            raise ValueError(f"the prompt has {prompt_len} tokens; the {which} holds {limit}")
        return wanted
