"""right: takes one part after the other into a running maximum, sum and average, as kernels do"""


def partial_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, seen: torch.Tensor) -> Partial:
    n, heads, dim = q.shape
    group = heads // k.shape[1]
    out = torch.zeros(n, heads, dim, device=q.device)
    lse = torch.full((n, heads), -torch.inf, device=q.device)
    for s in range(len(k)):
        key, value = (x[s].float().repeat_interleave(group, 0) for x in (k, v))
        score = (q.float() * key).sum(-1) / dim**0.5
        score = score.masked_fill((s >= seen)[:, None], -torch.inf)
        out, lse = _take_in(out, lse, value.expand(n, -1, -1), score)
    return Partial(out, lse)


def _take_in(out: torch.Tensor, lse: torch.Tensor, more: torch.Tensor, weigh: torch.Tensor) -> tuple[torch.Tensor, ...]:
    total = torch.logaddexp(lse, weigh)
    known = total > -torch.inf
    old, new = ((x - total).exp().where(known, torch.zeros_like(x)) for x in (lse, weigh))
    return out * old[..., None] + more * new[..., None], total


def merge(parts: Sequence[Partial]) -> Partial:
    out, lse = parts[0]
    for part in parts[1:]:
        out, lse = _take_in(out, lse, part.out, part.lse)
    return Partial(out, lse)
