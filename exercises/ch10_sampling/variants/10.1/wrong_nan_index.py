"""wrong: nan-row-raises

Counts the ends that are not above u: in a row of NaN, all of them.
"""


def probabilities(logits: torch.Tensor, temperature: torch.Tensor) -> torch.Tensor:
    z = logits.float()
    z = z - z.amax(-1, keepdim=True)
    info = torch.finfo(torch.float32)
    return torch.softmax(z / temperature.clamp(info.tiny, info.max)[:, None], -1)


def draw(probs: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    ends = probs.cumsum(-1)
    tokens = torch.searchsorted(ends, (u * ends[:, -1])[:, None], right=True)
    last = probs.shape[-1] - 1 - (probs.flip(-1) > 0).int().argmax(-1, keepdim=True)
    last = torch.where((probs > 0).any(-1, keepdim=True), last, probs.shape[-1])
    return torch.minimum(tokens, last)[:, 0]


def draw_filtered(probs: torch.Tensor, top_k: torch.Tensor, top_p: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    probs, order = probs.sort(dim=-1, descending=True, stable=True)
    rank = torch.arange(probs.shape[-1], device=probs.device)
    probs = probs.masked_fill(rank >= top_k[:, None], 0)
    ends = probs.cumsum(-1)
    before = ends.roll(1, -1).masked_fill_(rank == 0, 0)
    beyond = (before >= top_p[:, None] * ends[:, -1:]) & (top_p[:, None] < 1) & (rank > 0)
    return order.gather(-1, draw(probs.masked_fill(beyond, 0), u)[:, None])[:, 0]
