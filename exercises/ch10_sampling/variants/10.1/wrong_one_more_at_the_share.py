"""wrong: one-token-too-many

Keeps the token behind the share when the share is reached exactly.
"""


def draw_filtered(probs: torch.Tensor, top_k: torch.Tensor, top_p: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    probs, order = probs.sort(dim=-1, descending=True, stable=True)
    rank = torch.arange(probs.shape[-1], device=probs.device)
    probs = probs.masked_fill(rank >= top_k[:, None], 0)
    ends = probs.cumsum(-1)
    before = ends.roll(1, -1).masked_fill_(rank == 0, 0)
    beyond = before > top_p[:, None] * ends[:, -1:]
    return order.gather(-1, draw(probs.masked_fill(beyond, 0), u)[:, None])[:, 0]
