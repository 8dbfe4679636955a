"""wrong: copies-too-much

Sends rows and columns once more, though the step has left them on the device.
"""


class DecodeGraph:
    def run(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        padded = pad(batch, self.size)
        self._attention.plan(padded.starts)
        (flat,) = upload(self._entries.device, padded.rows + padded.starts + padded.pages)
        self._entries.copy_(flat.view(3, self.size))
        self._launch()
        n = len(batch.starts)
        ends = torch.tensor([start + 1 for start in batch.starts])
        return self.logits[:n], torch.tensor(batch.rows), ends


class GraphRunner:
    @torch.inference_mode()
    def forward_batch(self, batch: Batch) -> ForwardOutput:
        size = bucket_for(self._sizes, len(batch.reqs)) if batch.phase == "decode" else None
        if size is None:
            return self.engine.forward_batch(batch)
        return self.engine.choose_from(batch, *self.graphs[size].run(batch))
