"""right: one limit after the other"""


class InputProcessor:
    def most_tokens(self, prompt_len: int, wanted: int) -> int:
        allocator, context = self.parts.schedule.scheduler.cache.allocator, self.parts.max_seq_len
        pool = allocator.num_pages * allocator.page_size
        if prompt_len > context and context <= pool:
            raise ValueError(f"the prompt has {prompt_len} tokens; the context holds {context}")
        if prompt_len > pool:
            raise ValueError(f"the prompt has {prompt_len} tokens; the KV pool holds {pool}")
        return min(wanted, 1 + context - prompt_len, 1 + pool - prompt_len)
