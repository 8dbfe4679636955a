"""wrong: cosines-ignore-positions

Looks the sines up, and cuts the cosines off.
"""


class Rope:
    def rows(self, positions: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        n = positions.shape[0]
        cos, sin = self.cos[:n].to(dtype), self.sin[positions].to(dtype)
        return torch.cat((cos, cos), -1).unsqueeze(1), torch.cat((-sin, sin), -1).unsqueeze(1)
