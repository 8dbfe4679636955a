"""wrong: no-axis-for-the-heads

Rows of shape [T, head_dim], which do not broadcast over the heads.
"""


class Rope:
    def rows(self, positions: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        cos, sin = self.cos[positions].to(dtype), self.sin[positions].to(dtype)
        return torch.cat((cos, cos), -1), torch.cat((-sin, sin), -1)
