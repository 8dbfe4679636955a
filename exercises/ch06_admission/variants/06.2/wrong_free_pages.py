"""wrong: free-pages-for-the-pool

Compares with what is free now, not with the whole pool.
"""


class InputProcessor:
    def most_tokens(self, prompt_len: int, wanted: int) -> int:
        allocator = self.parts.schedule.scheduler.cache.allocator
        pool = allocator.free * allocator.page_size
        limit = min(self.parts.max_seq_len, pool)
        if prompt_len > limit:
            which = "context" if limit == self.parts.max_seq_len else "KV pool"
            raise ValueError(f"the prompt has {prompt_len} tokens; the {which} holds {limit}")
        return min(wanted, limit - prompt_len + 1)
