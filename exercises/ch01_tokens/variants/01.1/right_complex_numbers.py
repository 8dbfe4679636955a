"""right: turns complex numbers"""


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    points = torch.complex(x[..., :half], x[..., half:])
    turned = points * torch.complex(cos[..., :half], sin[..., half:])
    return torch.cat((turned.real, turned.imag), dim=-1)
