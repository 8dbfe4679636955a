"""wrong: work-grows-with-the-batch

One row after the other, on the device.
"""


def draw(probs: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    out = []
    for row, x in zip(probs, u, strict=True):
        ends = row.cumsum(-1)
        token = torch.searchsorted(ends, (x * ends[-1:]), right=True).clamp(max=len(row) - 1)
        out.append(torch.where(row.gather(-1, token) > 0, token, row.argmax(-1, keepdim=True)))
    return torch.cat(out)
