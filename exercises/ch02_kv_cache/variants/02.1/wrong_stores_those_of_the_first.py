"""wrong: wrong-values-stored

Stores the first n new keys and values for every entry.
"""


class DenseAttention:
    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(q)
        at = 0
        for row, start, n in self.entries:
            mine = slice(at, at + n)
            keys, values = self.cache.k[layer, row, : start + n], self.cache.v[layer, row, : start + n]
            keys[start:], values[start:] = k[:n], v[:n]
            out[mine] = attention(q[mine], keys, values)
            at += n
        return out
