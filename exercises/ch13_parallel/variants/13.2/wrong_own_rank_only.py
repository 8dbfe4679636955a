"""wrong: raised-IndexError

Looks the ids up in its own rows, wherever they lie.
"""


class RowParallelLinear:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = self._comm.all_reduce(F.linear(x, self.weight))
        return out if self.bias is None else out + self.bias


class VocabParallelEmbedding:
    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        rows = self.weight.shape[0]
        local = ids - self.first
        mine = (local >= 0) & (local < rows)
        found = F.embedding(local, self.weight)
        return self._comm.all_reduce(found.masked_fill_(~mine[:, None], 0))


class ParallelLMHead:
    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        parts = self._comm.all_gather(F.linear(hidden, self.weight))
        return parts.transpose(0, 1).flatten(1)[:, : self.vocab_size]
