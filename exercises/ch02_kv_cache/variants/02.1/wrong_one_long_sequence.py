"""wrong: requests-see-each-other

Takes the batch for one sequence whenever all of it is new.
"""


class DenseAttention:
    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(q)
        at = 0
        for row, start, n in self.entries:
            mine = slice(at, at + n)
            keys, values = self.cache.k[layer, row, : start + n], self.cache.v[layer, row, : start + n]
            keys[start:], values[start:] = k[mine], v[mine]
            out[mine] = attention(q[mine], keys, values)
            at += n
        return out if any(start for _, start, _ in self.entries) else attention(q, k, v)
