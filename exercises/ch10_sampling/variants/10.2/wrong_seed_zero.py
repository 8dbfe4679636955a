"""wrong: seed-zero-ignored

Asks whether the seed is true: 0 is not.
"""


class Sampler:
    def __call__(self, logits: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, ...]:
        reqs = batch.emitting
        ids = logits.argmax(-1)
        sound = logits.gather(-1, ids[:, None]).isfinite()[:, 0]
        sampled = [i for i, req in enumerate(reqs) if req.params.temperature > 0]
        if sampled:
            self._draw(ids, logits, batch, sampled)
        ids = ids.where(sound, NO_TOKEN)
        asked = [i for i, req in enumerate(reqs) if req.logprobs is not None]
        if not asked:
            return (ids,)
        return (ids, *report(logits, ids, asked, max(reqs[i].params.logprobs or 0 for i in asked)))

    def _random(self, req: Req, batch: Batch, entry: int) -> tuple[int, int]:
        if req.params.seed:
            return _signed(req.params.seed), batch.starts[entry] + batch.lens[entry]
        return self.entropy, (batch.index << 32) + entry
