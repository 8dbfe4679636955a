"""Answers in 16 bits beside Hugging Face in 32: equal until the two best tokens are as good as tied."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from transformers import PreTrainedModel

BOUND = 0.02
"""Tokens whose logits are closer than this share of the range of the row's logits are tied in bfloat16.

A bfloat16 has 8 bits: each number is off by up to 0.4%, and a logit is the end of a long chain of them.
"""


@torch.inference_mode()
def apart(model: PreTrainedModel, prompt: Sequence[int], answer: Sequence[int]) -> float:
    """Where an answer first leaves HF's: how much better HF's token is, as a share of the logits' range. 0: never.

    model: float32, with the weights that the answer was computed with. One pass over prompt and answer: up to the first
    difference both have the same context.
    """
    ids = torch.tensor([[*prompt, *answer]], device=model.device)
    logits = model(ids).logits[0, len(prompt) - 1 : -1].float()
    best, chosen = logits.max(-1).values, logits.gather(-1, ids[0, len(prompt) :, None])[:, 0]
    differs = (best > chosen).nonzero()
    if not len(differs):
        return 0.0
    at = int(differs[0])
    row = logits[at]
    return float((best[at] - chosen[at]) / (row.max() - row.min()))
