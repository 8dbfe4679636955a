"""wrong: scaling-ignored"""


def frequencies(rope: RopeConfig, head_dim: int) -> torch.Tensor:
    return 1.0 / rope.base ** (torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim)
