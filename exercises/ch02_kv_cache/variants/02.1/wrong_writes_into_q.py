"""wrong: input-changed

Puts the answer where the queries were.
"""


class DenseAttention:
    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        at = 0
        for row, start, n in self.entries:
            mine = slice(at, at + n)
            keys, values = self.cache.k[layer, row, : start + n], self.cache.v[layer, row, : start + n]
            keys[start:], values[start:] = k[mine], v[mine]
            q[mine] = attention(q[mine], keys, values)
            at += n
        return q
