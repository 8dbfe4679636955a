"""Answers in bfloat16 beside Hugging Face in float32: equal until two tokens are as good as tied."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, PreTrainedModel

BOUND = 2.0
"""Two tokens are tied when their logits are no further apart than twice the error that bfloat16 makes there.

The error is Hugging Face's own: the largest difference of its logits in bfloat16 and in float32, on the same context.
Two logits may be off by that much in opposite directions. It depends on the model: rounding grows from layer to
layer, far more in the wide random checkpoints than in trained ones.
"""


class Reference:
    """Hugging Face's model in float32, with weights rounded to bfloat16, and the same model in bfloat16."""

    def __init__(self, folder: Path, device: str = "cuda") -> None:
        self.half: PreTrainedModel = (
            AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).eval().to(device)
        )
        self.full: PreTrainedModel = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).float().eval()
        self.full.to(device)

    @torch.inference_mode()
    def apart(self, prompt: Sequence[int], answer: Sequence[int]) -> float:
        """How much better HF's own token is where an answer first leaves it, in units of the error there. 0: never.

        One pass over prompt and answer: up to the first difference both have the same context.
        """
        ids = torch.tensor([[*prompt, *answer]], device=self.full.device)
        logits, rounded = (model(ids).logits[0, len(prompt) - 1 : -1].float() for model in (self.full, self.half))
        best, chosen = logits.max(-1).values, logits.gather(-1, ids[0, len(prompt) :, None])[:, 0]
        differs = (best > chosen).nonzero()
        if not len(differs):
            return 0.0
        at = int(differs[0])
        return float((best[at] - chosen[at]) / (logits[at] - rounded[at]).abs().max())
