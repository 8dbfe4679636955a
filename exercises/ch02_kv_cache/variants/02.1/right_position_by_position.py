"""right: one new position after the other"""


class DenseAttention:
    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        outs, at = [], 0
        for row, start, n in self.entries:
            for position in range(start, start + n):
                self.cache.k[layer, row, position] = k[at]
                self.cache.v[layer, row, position] = v[at]
                seen = slice(position + 1)
                outs.append(attention(q[at : at + 1], self.cache.k[layer, row, seen], self.cache.v[layer, row, seen]))
                at += 1
        return torch.cat(outs)
