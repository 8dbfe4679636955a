"""Attention within one sequence, from scratch and without a cache. Chapter 01."""

from __future__ import annotations

import torch


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Causal attention of the last T of S positions: q [T, H, D], k and v [S, KV, D] -> [T, H, D], T <= S.

    Query i is at position S - T + i and sees keys 0 .. S - T + i: the mask is aligned at the bottom right, so with
    T = S it is the familiar triangle. Query heads h * H/KV .. (h + 1) * H/KV - 1 share KV head h. Scores and their
    softmax are computed in float32, whatever the dtype of q and k.
    """
    raise NotImplementedError("exercise 01.2: write the body of attention")


class CausalAttention:
    """`attend` for one whole sequence: every position is computed, nothing is kept."""

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """q [T, H, D], k and v [T, KV, D] -> [T, H, D]"""
        return attention(q, k, v)
