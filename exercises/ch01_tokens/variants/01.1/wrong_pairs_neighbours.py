"""wrong: pairs-neighbours"""


class Rope:
    def rows(self, positions: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        cos, sin = self.cos[positions].to(dtype), self.sin[positions].to(dtype)
        return cos.repeat_interleave(2, -1).unsqueeze(1), sin.repeat_interleave(2, -1).unsqueeze(1)


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    even, odd = x[..., 0::2], x[..., 1::2]
    return x * cos + torch.stack((-odd, even), -1).flatten(-2) * sin
