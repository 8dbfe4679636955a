"""Where checks get Hugging Face's greedy tokens from: the record beside the checkpoint, or computed anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..tree import ROOT
from .checklib import OracleLike, OracleMissing

CHECKPOINT = "minisgl_lite/assets/tiny-qwen3"


@dataclass(frozen=True)
class Run:
    """One greedy run: prompt ids, the ids that follow, and by how much each one's logit was above the second best."""

    ids: Sequence[int]
    output_ids: Sequence[int]
    gaps: Sequence[float]


@cache
def recorded() -> Sequence[OracleLike]:
    """The recorded runs. Raises OracleMissing."""
    try:
        from ..oracle import load

        return tuple(load())
    except (ImportError, OSError, ValueError, KeyError) as error:
        raise OracleMissing(f"the record of Hugging Face's tokens cannot be read: {error}") from error


@cache
def live() -> Sequence[OracleLike]:
    """The recorded prompts run through Hugging Face now: about half a minute. Raises OracleMissing."""
    wanted = recorded()
    try:
        import torch
        from transformers import AutoModelForCausalLM

        model: Any = AutoModelForCausalLM.from_pretrained(ROOT / CHECKPOINT, dtype=torch.float32)
    except (ImportError, OSError, ValueError) as error:
        raise OracleMissing(f"Hugging Face's model cannot be run: {error}") from error
    return tuple(_generate(model, run.ids, len(run.output_ids)) for run in wanted)


def _generate(model: Any, ids: Sequence[int], count: int) -> Run:
    """Exactly `count` greedy tokens, whatever they are: an end token is one like any other."""
    import torch

    prompt = torch.tensor([list(ids)])
    out = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        do_sample=False,
        max_new_tokens=count,
        eos_token_id=None,
        output_logits=True,
        return_dict_in_generate=True,
    )
    best = torch.stack(out.logits)[:, 0].topk(2).values
    return Run(tuple(ids), tuple(out.sequences[0, len(ids) :].tolist()), tuple((best[:, 0] - best[:, 1]).tolist()))
