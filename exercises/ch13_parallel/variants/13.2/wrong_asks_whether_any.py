"""wrong: waits-for-the-device

Asks the device whether there is anything to set to 0.
"""


class RowParallelLinear:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = self._comm.all_reduce(F.linear(x, self.weight))
        return out if self.bias is None else out.add_(self.bias)


class VocabParallelEmbedding:
    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        rows = self.weight.shape[0]
        local = ids - self.first
        mine = (local >= 0) & (local < rows)
        found = F.embedding(local.clamp(0, rows - 1), self.weight)
        if not mine.all():
            found = found.masked_fill(~mine[:, None], 0)
        return self._comm.all_reduce(found)


class ParallelLMHead:
    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        parts = self._comm.all_gather(F.linear(hidden, self.weight))
        return parts.transpose(0, 1).flatten(1)[:, : self.vocab_size].contiguous()
