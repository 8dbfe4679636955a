"""wrong: exponent-not-doubled"""


def frequencies(rope: RopeConfig, head_dim: int) -> torch.Tensor:
    exponents = torch.arange(head_dim // 2, dtype=torch.float32) / head_dim
    plain = 1.0 / rope.base**exponents
    return plain if rope.scaling is None else _stretch(plain, rope.scaling)
