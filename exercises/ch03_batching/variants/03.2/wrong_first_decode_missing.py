"""wrong: first-decode-missing

Wants more computed than the prompt; but after the prefill exactly the prompt is.
"""


class Req:
    @property
    def can_decode(self) -> bool:
        return self.prompt_len < self.cached_len < self.limit
