"""wrong: wrong-layer

Forgets that every layer has keys and values of its own.
"""


class DenseAttention:
    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(q)
        at = 0
        for row, start, n in self.entries:
            mine = slice(at, at + n)
            keys, values = self.cache.k[0, row, : start + n], self.cache.v[0, row, : start + n]
            keys[start:], values[start:] = k[mine], v[mine]
            out[mine] = attention(q[mine], keys, values)
            at += n
        return out
