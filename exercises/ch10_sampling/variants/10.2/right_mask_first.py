"""right: finds bad rows by the largest logit, and the pair by a helper of its own"""


class Sampler:
    def __call__(self, logits: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, ...]:
        best = logits.max(dim=-1)
        ids, bad = best.indices.clone(), ~torch.isfinite(best.values)
        hot, told, most = [], [], 0
        for row, req in enumerate(batch.emitting):
            if req.params.temperature != 0:
                hot.append(row)
            if req.params.logprobs is not None:
                told.append(row)
                most = max(most, req.params.logprobs)
        if hot:
            self._draw(ids, logits, batch, hot)
        ids[bad] = NO_TOKEN
        return (ids, *report(logits, ids, told, most)) if told else (ids,)

    def _random(self, req: Req, batch: Batch, entry: int) -> tuple[int, int]:
        seed, position = req.params.seed, batch.starts[entry] + batch.lens[entry]
        if seed is None:
            return self.entropy, batch.index * 1_000_003 + entry
        return _signed(seed), position * 7 + 1
