"""wrong: computed-in-16-bits

Computes in the dtype of the inputs, and makes the result float32.
"""


def partial_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, seen: torch.Tensor) -> Partial:
    n, heads, dim = q.shape
    queries = q.view(n, k.shape[1], heads // k.shape[1], dim)
    scores = torch.einsum("nkgd,skd->nkgs", queries, k) * dim**-0.5
    hidden = torch.arange(len(k), device=q.device) >= seen[:, None]
    scores = scores.masked_fill(hidden[:, None, None], float("-inf"))
    lse = scores.logsumexp(-1)
    weights = (scores - lse[..., None]).exp().masked_fill(hidden[:, None, None], 0)
    out = torch.einsum("nkgs,skd->nkgd", weights, v)
    return Partial(out.float().reshape(n, heads, dim), lse.float().reshape(n, heads))


def merge(parts: Sequence[Partial]) -> Partial:
    lse = torch.stack([part.lse for part in parts])
    total = lse.logsumexp(0)
    share = (lse - total).exp().masked_fill(lse == float("-inf"), 0)
    out = torch.stack([part.out for part in parts]) * share[..., None]
    return Partial(out.sum(0), total)
