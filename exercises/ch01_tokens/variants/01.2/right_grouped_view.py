"""right: no copies of the keys"""

import math


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    new, heads, size = q.shape
    total, kv = k.shape[:2]
    grouped = q.reshape(new, kv, heads // kv, size)
    scores = torch.einsum("tgjd,sgd->gjts", grouped.float(), k.float()) / math.sqrt(size)
    mask = torch.full((new, total), float("-inf")).triu(total - new + 1)
    weights = torch.softmax(scores + mask, dim=-1).to(q.dtype)
    return torch.einsum("gjts,sgd->tgjd", weights, v).reshape(new, heads, size)
