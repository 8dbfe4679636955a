"""right: writes into the tensor with a slice"""


class DecodeGraph:
    def run(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        padded = pad(batch, self.size)
        (flat,) = upload(self._entries.device, [*padded.rows, *padded.starts, *padded.pages])
        self._entries[:] = flat.reshape(3, -1)
        self._attention.plan(padded.starts)
        self._launch()
        at = slice(0, len(batch.rows))
        return self.logits[at], self.rows[at], self.ends[at]


class GraphRunner:
    @torch.inference_mode()
    def forward_batch(self, batch: Batch) -> ForwardOutput:
        size = bucket_for(self._sizes, len(batch.reqs)) if batch.phase == "decode" else None
        if size is None:
            return self.engine.forward_batch(batch)
        return self.engine.choose_from(batch, *self.graphs[size].run(batch))
