"""right: repeats keys and values, softmax first, the weights of the parts by softmax, too"""


def partial_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, seen: torch.Tensor) -> Partial:
    group = q.shape[1] // k.shape[1]
    keys, values = (x.float().repeat_interleave(group, 1).transpose(0, 1) for x in (k, v))
    scores = q.float().transpose(0, 1) @ keys.transpose(1, 2) / q.shape[2] ** 0.5
    visible = torch.arange(k.shape[0], device=q.device)[None] < seen[:, None]
    scores = scores.where(visible, -torch.inf)
    out = scores.softmax(-1).nan_to_num(0.0) @ values
    return Partial(out.transpose(0, 1).contiguous(), scores.logsumexp(-1).T.contiguous())


def merge(parts: Sequence[Partial]) -> Partial:
    lse = torch.stack([part.lse for part in parts], -1)
    share = lse.softmax(-1).nan_to_num(0.0)
    out = sum(part.out * share[..., i, None] for i, part in enumerate(parts))
    return Partial(out, lse.logsumexp(-1))
