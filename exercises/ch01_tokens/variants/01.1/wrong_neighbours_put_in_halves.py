"""wrong: pairs-neighbours

Reads neighbours, writes halves.
"""


class Rope:
    def rows(self, positions: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        cos, sin = self.cos[positions].to(dtype), self.sin[positions].to(dtype)
        return torch.cat((cos, cos), -1).unsqueeze(1), torch.cat((sin, sin), -1).unsqueeze(1)


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    even, odd, c, s = x[..., 0::2], x[..., 1::2], cos[..., :half], sin[..., :half]
    return torch.cat((even * c - odd * s, even * s + odd * c), -1)
