"""wrong: large-top-k-raises

Reads the probability of the last of the top k, though k may be larger than the vocabulary.
"""


def probabilities(logits: torch.Tensor, temperature: torch.Tensor) -> torch.Tensor:
    z = logits.float()
    z = z - z.amax(-1, keepdim=True)
    info = torch.finfo(torch.float32)
    return torch.softmax(z / temperature.clamp(info.tiny, info.max)[:, None], -1)


def draw(probs: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    ends = probs.cumsum(-1)
    token = torch.searchsorted(ends, (u * ends[:, -1])[:, None], right=True).clamp(max=probs.shape[-1] - 1)
    token = torch.where(probs.gather(-1, token) > 0, token, probs.argmax(-1, keepdim=True))
    return token[:, 0]


def draw_filtered(probs: torch.Tensor, top_k: torch.Tensor, top_p: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    ranked, order = probs.sort(dim=-1, descending=True, stable=True)
    least = ranked.gather(-1, top_k[:, None] - 1)
    ranked = ranked.masked_fill(ranked < least, 0)
    ends = ranked.cumsum(-1)
    beyond = (ends - ranked >= top_p[:, None] * ends[:, -1:]) & (top_p[:, None] < 1)
    beyond[:, 0] = False
    return order.gather(-1, draw(ranked.masked_fill(beyond, 0), u)[:, None])[:, 0]
