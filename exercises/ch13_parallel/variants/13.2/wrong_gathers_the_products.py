"""wrong: wrong-collective

Gathers all products and adds them up here.
"""


class RowParallelLinear:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = self._comm.all_gather(F.linear(x, self.weight)).sum(0)
        return out if self.bias is None else out + self.bias


class VocabParallelEmbedding:
    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        rows = self.weight.shape[0]
        local = ids - self.first
        mine = (local >= 0) & (local < rows)
        found = F.embedding(local.clamp(0, rows - 1), self.weight)
        return self._comm.all_reduce(found.masked_fill_(~mine[:, None], 0))


class ParallelLMHead:
    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        parts = self._comm.all_gather(F.linear(hidden, self.weight))
        return parts.transpose(0, 1).flatten(1)[:, : self.vocab_size]
