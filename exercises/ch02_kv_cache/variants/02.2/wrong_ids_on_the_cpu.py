"""wrong: wrong-device

Makes the ids wherever torch makes tensors.
"""


def _next_token(checkpoint: Checkpoint, cache: DenseCache, new: list[int], start: int) -> int:
    ids = torch.tensor(new)
    positions = torch.arange(start, start + len(new), device=checkpoint.device)
    attend = DenseAttention(cache, rows=[0], starts=[start], lens=[len(new)])
    hidden = checkpoint.decoder.forward(ids, positions, attend)
    return int(checkpoint.decoder.logits(hidden[-1:]).argmax())
