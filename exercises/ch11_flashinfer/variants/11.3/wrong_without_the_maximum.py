"""wrong: lse-without-the-maximum

Takes the maximum off for the softmax, and forgets it in the logarithm.
"""


def partial_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, seen: torch.Tensor) -> Partial:
    n, heads, dim = q.shape
    queries = q.float().view(n, k.shape[1], heads // k.shape[1], dim)
    scores = torch.einsum("nkgd,skd->nkgs", queries, k.float()) * dim**-0.5
    hidden = torch.arange(len(k), device=q.device) >= seen[:, None]
    scores = scores.masked_fill(hidden[:, None, None], float("-inf"))
    top = scores.amax(-1, keepdim=True)
    weights = (scores - top).exp()
    lse = weights.sum(-1).log()
    weights = weights / weights.sum(-1, keepdim=True)
    out = torch.einsum("nkgs,skd->nkgd", weights, v.float())
    return Partial(out.reshape(n, heads, dim), lse.reshape(n, heads))


def merge(parts: Sequence[Partial]) -> Partial:
    lse = torch.stack([part.lse for part in parts])
    total = lse.logsumexp(0)
    share = (lse - total).exp().masked_fill(lse == float("-inf"), 0)
    out = torch.stack([part.out for part in parts]) * share[..., None]
    return Partial(out.sum(0), total)
