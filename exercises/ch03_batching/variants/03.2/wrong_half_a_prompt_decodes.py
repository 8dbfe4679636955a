"""wrong: decodes-before-the-prompt-is-computed

Looks at the limit only: a prompt that is half computed would decode.
"""


class Req:
    @property
    def can_decode(self) -> bool:
        return 0 < self.cached_len < self.limit
