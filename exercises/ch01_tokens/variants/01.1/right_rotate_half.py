"""right: the minus sign in rotate, frequencies through exp and log"""


def frequencies(rope: RopeConfig, head_dim: int) -> torch.Tensor:
    steps = torch.arange(head_dim // 2, dtype=torch.float32) * (2.0 / head_dim)
    plain = torch.exp(-math.log(rope.base) * steps)
    if rope.scaling is not None:
        return _stretch(plain, rope.scaling)
    return plain


class Rope:
    def rows(self, positions: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        cos = self.cos.index_select(0, positions).repeat(1, 2)[:, None]
        sin = self.sin.index_select(0, positions).repeat(1, 2)[:, None]
        return cos.to(dtype), sin.to(dtype)


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat((-second, first), -1) * sin
