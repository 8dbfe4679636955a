"""wrong: only-the-keys-tiled

Repeats the keys as a whole, the values one by one.
"""


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    new, total = q.shape[0], k.shape[0]
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat(1, group, 1), v.repeat_interleave(group, 1)
    scores = torch.einsum("thd,shd->hts", q, k) * q.shape[-1] ** -0.5
    hidden = torch.ones(new, total, dtype=torch.bool).triu(total - new + 1)
    weights = scores.float().masked_fill(hidden, float("-inf")).softmax(-1).to(v.dtype)
    return torch.einsum("hts,shd->thd", weights, v)
