"""wrong: logits-for-every-position

Turns every hidden state into logits and keeps the last token.
"""


def _next_token(checkpoint: Checkpoint, cache: DenseCache, new: list[int], start: int) -> int:
    ids = torch.tensor(new, device=checkpoint.device)
    positions = torch.arange(start, start + len(new), device=checkpoint.device)
    attend = DenseAttention(cache, rows=[0], starts=[start], lens=[len(new)])
    hidden = checkpoint.decoder.forward(ids, positions, attend)
    return int(checkpoint.decoder.logits(hidden).argmax(-1)[-1])
