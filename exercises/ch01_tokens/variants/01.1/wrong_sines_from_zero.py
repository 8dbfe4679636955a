"""wrong: sines-ignore-positions

Looks the cosines up, and cuts the sines off.
"""


class Rope:
    def rows(self, positions: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        n = positions.shape[0]
        cos, sin = self.cos[positions].to(dtype), self.sin[:n].to(dtype)
        return torch.cat((cos, cos), -1).unsqueeze(1), torch.cat((-sin, sin), -1).unsqueeze(1)
