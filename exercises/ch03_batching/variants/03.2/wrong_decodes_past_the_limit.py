"""wrong: decodes-past-the-limit

Allows one position too many: the last sampled token would be fed back for nothing.
"""


class Req:
    @property
    def can_decode(self) -> bool:
        return self.prompt_len <= self.cached_len <= self.limit
