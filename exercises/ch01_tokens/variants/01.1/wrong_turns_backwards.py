"""wrong: turns-backwards"""


class Rope:
    def rows(self, positions: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        cos, sin = self.cos[positions].to(dtype), self.sin[positions].to(dtype)
        return torch.cat((cos, cos), -1).unsqueeze(1), torch.cat((sin, -sin), -1).unsqueeze(1)
