"""right: asks the allocator's own formula"""


class InputProcessor:
    def most_tokens(self, prompt_len: int, wanted: int) -> int:
        allocator = self.parts.schedule.scheduler.cache.allocator
        named = [(self.parts.max_seq_len, "context"), (allocator.num_tokens, "KV pool")]
        limit, which = min(named, key=lambda pair: pair[0])
        if prompt_len > self.parts.max_seq_len or allocator.pages_for(prompt_len) > allocator.num_pages:
            raise ValueError(f"a prompt of {prompt_len} tokens: the {which} holds {limit} positions")
        while wanted > 1 and prompt_len + wanted - 1 > limit:
            wanted = limit - prompt_len + 1
        return wanted
