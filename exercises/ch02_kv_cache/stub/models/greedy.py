"""Greedy decoding of one prompt with a dense cache: prefill once, then one token at a time. Chapter 02."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ..attention.dense import DenseAttention, DenseCache
from .checkpoint import Checkpoint
from .config import ModelConfig


@torch.inference_mode()
def generate_greedy(
    checkpoint: Checkpoint, prompt_ids: Sequence[int], max_tokens: int, ignore_eos: bool = False
) -> list[int]:
    """The most likely continuation, at most max_tokens ids; ends before an EOS unless that is ignored.

    Raises ValueError when the prompt is empty, or prompt and answer do not fit the model's positions (the last token
    is never fed back and needs none).
    """
    raise NotImplementedError("exercise 02.2: write the body of generate_greedy")


def _positions_needed(config: ModelConfig, prompt_len: int, max_tokens: int) -> int:
    """Positions that a prompt and its answer occupy in the cache. Raises ValueError as `generate_greedy` does."""
    needed = prompt_len + max_tokens - 1
    if prompt_len < 1 or max_tokens < 1 or needed > config.max_seq_len:
        raise ValueError(
            f"{prompt_len} prompt tokens and max_tokens {max_tokens} need {needed} positions; "
            f"both must be at least 1, and the model has {config.max_seq_len}"
        )
    return needed


def _next_token(checkpoint: Checkpoint, cache: DenseCache, new: list[int], start: int) -> int:
    """Compute positions start .. start + len(new) - 1 and return the token that follows them."""
    raise NotImplementedError("exercise 02.2: write the body of _next_token")
