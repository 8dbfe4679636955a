"""right: softmax spelled out, a large number instead of infinity"""


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    new, heads, size = q.shape
    total, shared = k.shape[0], k.shape[1]
    grouped = q.float().view(new, shared, heads // shared, size)
    scores = torch.einsum("tgjd,sgd->gjts", grouped, k.float()).div(size**0.5)
    ahead = torch.arange(total)[None] > torch.arange(total - new, total)[:, None]
    scores = scores.masked_fill(ahead, torch.finfo(torch.float32).min)
    raised = (scores - scores.amax(-1, keepdim=True)).exp()
    weights = raised / raised.sum(-1, keepdim=True)
    return torch.einsum("gjts,sgd->tgjd", weights, v.float()).reshape(new, heads, size).to(q.dtype)
