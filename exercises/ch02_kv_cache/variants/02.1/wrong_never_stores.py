"""wrong: not-stored

Puts old and new together for this call, and forgets the new ones after it.
"""


class DenseAttention:
    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(q)
        at = 0
        for row, start, n in self.entries:
            mine = slice(at, at + n)
            keys = torch.cat((self.cache.k[layer, row, :start], k[mine]))
            values = torch.cat((self.cache.v[layer, row, :start], v[mine]))
            out[mine] = attention(q[mine], keys, values)
            at += n
        return out
