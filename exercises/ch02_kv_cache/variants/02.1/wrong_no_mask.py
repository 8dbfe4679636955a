"""wrong: no-mask

Lets every new position see all of them.
"""


class DenseAttention:
    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(q)
        at = 0
        for row, start, n in self.entries:
            mine = slice(at, at + n)
            self.cache.k[layer, row, start : start + n] = k[mine]
            self.cache.v[layer, row, start : start + n] = v[mine]
            keys, values = self.cache.k[layer, row, : start + n], self.cache.v[layer, row, : start + n]
            for i in range(at, at + n):
                out[i] = attention(q[i : i + 1], keys, values)[0]
            at += n
        return out
