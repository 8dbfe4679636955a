"""wrong: wrong-position

Counts the positions of the new tokens from 0 in every pass.
"""


def _next_token(checkpoint: Checkpoint, cache: DenseCache, new: list[int], start: int) -> int:
    ids = torch.tensor(new, device=checkpoint.device)
    positions = torch.arange(len(new), device=checkpoint.device)
    attend = DenseAttention(cache, rows=[0], starts=[start], lens=[len(new)])
    hidden = checkpoint.decoder.forward(ids, positions, attend)
    return int(checkpoint.decoder.logits(hidden[-1:]).argmax())
