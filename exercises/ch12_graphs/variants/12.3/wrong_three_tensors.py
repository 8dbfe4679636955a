"""wrong: copies-too-much

Makes a tensor of each list: three copies to the device.
"""


class DecodeGraph:
    def run(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        padded = pad(batch, self.size)
        self._attention.plan(padded.starts)
        for there, values in zip(self._entries, padded, strict=True):
            there.copy_(torch.tensor(values, device=there.device))
        self._launch()
        n = len(batch.starts)
        return self.logits[:n], self.rows[:n], self.ends[:n]


class GraphRunner:
    @torch.inference_mode()
    def forward_batch(self, batch: Batch) -> ForwardOutput:
        size = bucket_for(self._sizes, len(batch.reqs)) if batch.phase == "decode" else None
        if size is None:
            return self.engine.forward_batch(batch)
        return self.engine.choose_from(batch, *self.graphs[size].run(batch))
