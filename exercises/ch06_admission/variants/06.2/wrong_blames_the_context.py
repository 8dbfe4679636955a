"""wrong: wrong-limit-named

Always says that it is the context.
"""


class LLM:
    def _most_tokens(self, prompt_len: int, wanted: int) -> int:
        pool = self._scheduler.cache.allocator.num_tokens
        limit = min(self._parts.max_seq_len, pool)
        if prompt_len > limit:
            raise ValueError(f"the prompt has {prompt_len} tokens; the context holds {limit}")
        return min(wanted, limit - prompt_len + 1)
