"""right: one head at a time"""


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    new, heads, size = q.shape
    total, group = k.shape[0], heads // k.shape[1]
    newest = torch.arange(total - new, total)[:, None]
    visible = torch.arange(total)[None] <= newest
    out = torch.empty_like(q)
    for h in range(heads):
        scores = q[:, h].float() @ k[:, h // group].float().T / size**0.5
        weights = torch.where(visible, scores, torch.tensor(-torch.inf)).softmax(dim=-1)
        out[:, h] = weights.to(v.dtype) @ v[:, h // group]
    return out
