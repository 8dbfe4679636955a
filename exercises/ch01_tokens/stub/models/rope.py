"""Rotary position embedding: the angle between a query and a key tells only how far apart they are. Chapter 01."""

from __future__ import annotations

import math

import torch

from .config import Llama3Scaling, RopeConfig


def frequencies(rope: RopeConfig, head_dim: int) -> torch.Tensor:
    """[head_dim / 2] radians a position, float32, from fast to slow."""
    raise NotImplementedError("exercise 01.1: write the body of frequencies")


def _stretch(plain: torch.Tensor, scaling: Llama3Scaling) -> torch.Tensor:
    turns = scaling.original_max_len * plain / (2 * math.pi)  # full circles within the original context
    kept = ((turns - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor)).clamp(0.0, 1.0)
    return kept * plain + (1.0 - kept) * plain / scaling.factor


class Rope:
    """Cosines and sines of every position that may occur: two float32 tables [max_seq_len, head_dim / 2]."""

    def __init__(self, rope: RopeConfig, head_dim: int, max_seq_len: int, device: torch.device) -> None:
        positions = torch.arange(max_seq_len, dtype=torch.float32)
        angles = torch.outer(positions, frequencies(rope, head_dim))
        self.cos, self.sin = angles.cos().to(device), angles.sin().to(device)

    def rows(self, positions: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        """What `rotate` needs for tokens at `positions` [T]: two tensors [T, 1, head_dim] in `dtype`.

        Looked up once a forward pass, for all layers. A position past the table is an error (an IndexError on a CPU).
        """
        raise NotImplementedError("exercise 01.1: write the body of Rope.rows")


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turn each head of x [T, heads, head_dim] by its token's angles, as given by `Rope.rows`.

    Number i turns together with number i + head_dim / 2. (The paper pairs neighbours; checkpoints pair the halves.)
    """
    raise NotImplementedError("exercise 01.1: write the body of rotate")
