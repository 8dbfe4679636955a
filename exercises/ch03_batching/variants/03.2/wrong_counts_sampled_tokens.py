"""wrong: counts-sampled-tokens

Takes the length of input_ids for that of the prompt.
"""


class Req:
    @property
    def can_decode(self) -> bool:
        return len(self.input_ids) <= self.cached_len < self.limit
