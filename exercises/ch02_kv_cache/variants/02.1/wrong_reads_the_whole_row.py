"""wrong: reads-beyond-the-end

Hands over the whole row, with whatever lies behind the new positions.
"""


class DenseAttention:
    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(q)
        at = 0
        for row, start, n in self.entries:
            mine = slice(at, at + n)
            keys, values = self.cache.k[layer, row], self.cache.v[layer, row]
            keys[start : start + n], values[start : start + n] = k[mine], v[mine]
            out[mine] = attention(q[mine], keys, values)
            at += n
        return out
