"""wrong: cut-at-the-door-ignored

Works out the limit again, from a max_tokens that may have been cut at the door.
"""


class AdmittingAdder:
    def need(self, req: Req) -> int:
        return self.cache.allocator.pages_for(req.prompt_len + req.params.max_tokens - 1) - len(req.pages)
