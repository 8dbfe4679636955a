"""Engines on random checkpoints, beside the answers of Hugging Face."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from minisgl_lite import LLM, SamplingParams
from tests.helpers.checkpoints import TIE_GAP, hf_greedy, make_checkpoint

Answers = list[list[int] | None]


def known_answers(folder: Path, prompts: Sequence[list[int]], new: int, kind: str = "qwen3") -> Answers:
    """Make a checkpoint; HF's greedy ids for each prompt, None for a tie. Most must not be ties."""
    model = make_checkpoint(folder, kind)
    memo = {tuple(prompt): hf_greedy(model, prompt, new) for prompt in prompts}
    answers: Answers = [ids if gap >= TIE_GAP else None for ids, gap in (memo[tuple(prompt)] for prompt in prompts)]
    assert answers.count(None) * 5 <= len(answers), "more than one in five is a tie: choose another seed"
    return answers


def engine(folder: Path, **options: Any) -> LLM:
    """An LLM whose pool is filled with large numbers: what is read without having been written shows."""
    llm = LLM(folder, **{"dtype": torch.float32, "cache_type": "naive", "overlap": False, **options})
    llm._parts.engine.pool.k.fill_(1e4)
    llm._parts.engine.pool.v.fill_(1e4)
    return llm


def compare(llm: LLM, prompts: Sequence[list[int]], answers: Answers, new: int) -> None:
    """Generate, compare every answer that is no tie, check the invariants."""
    for i, (out, want) in enumerate(zip(llm.generate(prompts, SamplingParams(max_tokens=new)), answers, strict=True)):
        assert want is None or out.token_ids == want, f"prompt {i}"
    llm.check_invariants()
