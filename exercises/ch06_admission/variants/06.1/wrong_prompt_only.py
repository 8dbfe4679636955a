"""wrong: only-the-prompt-promised

Still chapter 05's need: the prompt, and not what is generated after it.
"""


class AdmittingAdder:
    def need(self, req: Req) -> int:
        return self.cache.allocator.pages_for(req.prompt_len) - len(req.pages)
