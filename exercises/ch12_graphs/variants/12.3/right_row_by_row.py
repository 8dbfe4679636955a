"""right: three views of one upload, copied one by one; looks for the graph itself"""


class DecodeGraph:
    def run(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        padded, entries = pad(batch, self.size), len(batch.reqs)
        parts = upload(self._entries.device, padded.rows, padded.starts, padded.pages)
        for there, part in zip(self._entries, parts, strict=True):
            there.copy_(part)
        self._attention.plan(padded.starts)
        self._launch()
        logits, rows, ends = (whole.narrow(0, 0, entries) for whole in (self.logits, self.rows, self.ends))
        return logits, rows, ends


class GraphRunner:
    @torch.inference_mode()
    def forward_batch(self, batch: Batch) -> ForwardOutput:
        if batch.phase == "decode":
            for size in self._sizes:
                if size >= len(batch.rows):
                    logits, rows, columns = self.graphs[size].run(batch)
                    return self.engine.choose_from(batch, logits, rows, columns)
        return self.engine.forward_batch(batch)
