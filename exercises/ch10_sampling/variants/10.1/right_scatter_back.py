"""right: puts the kept probabilities back into the order of the ids"""


def probabilities(logits: torch.Tensor, temperature: torch.Tensor) -> torch.Tensor:
    z = logits.to(torch.float32)
    z = (z - z.max(-1, keepdim=True).values) / temperature.clamp(min=1e-37, max=1e37).unsqueeze(1)
    weights = z.exp()
    return weights / weights.sum(-1, keepdim=True)


def draw(probs: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    ends = probs.cumsum(-1)
    token = torch.searchsorted(ends, (u * ends[:, -1])[:, None], right=True).clamp(max=probs.shape[-1] - 1)
    token = torch.where(probs.gather(-1, token) > 0, token, probs.argmax(-1, keepdim=True))
    return token[:, 0]


def draw_filtered(probs: torch.Tensor, top_k: torch.Tensor, top_p: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    ranked, order = torch.sort(probs, dim=1, descending=True, stable=True)
    inside = torch.arange(probs.shape[1], device=probs.device)[None] < top_k[:, None]
    ranked = ranked * inside
    before = ranked.cumsum(1) - ranked
    enough = top_p[:, None] * ranked.sum(1, keepdim=True)
    keep = inside & ((before < enough) | (top_p[:, None] == 1))
    keep[:, 0] = True
    return draw(torch.zeros_like(probs).scatter(1, order, ranked * keep), u)
