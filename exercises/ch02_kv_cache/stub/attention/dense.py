"""A contiguous KV cache and attention over it: slow, readable, the oracle for every later backend. Chapter 02."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ..models.config import ModelConfig
from .causal import attention


class DenseCache:
    """Keys and values of `rows` sequences: k and v [layers, rows, max_len, KV, D], owned here.

    Position p of a row is valid once something was written there; nobody clears a row, the next owner writes over it.
    """

    def __init__(
        self,
        config: ModelConfig,
        rows: int,
        max_len: int,
        dtype: torch.dtype = torch.float32,
        device: torch.device | None = None,
    ) -> None:
        shape = (config.num_layers, rows, max_len, config.num_kv_heads, config.head_dim)
        self.k = torch.zeros(shape, dtype=dtype, device=device)
        self.v = torch.zeros(shape, dtype=dtype, device=device)

    @property
    def max_len(self) -> int:
        """Positions a row."""
        return self.k.shape[2]


class DenseAttention:
    """`attend` for one ragged batch: entry i brings lens[i] new positions of row rows[i], from starts[i] on.

    Stores the new K/V, then lets each new position look at its own row, up to and including itself. Raises ValueError
    for an entry that does not fit its row, or brings nothing.
    """

    def __init__(self, cache: DenseCache, rows: Sequence[int], starts: Sequence[int], lens: Sequence[int]) -> None:
        self.cache = cache
        self.entries = list(zip(rows, starts, lens, strict=True))
        for row, start, n in self.entries:
            if n < 1 or start < 0 or start + n > cache.max_len:
                raise ValueError(f"row {row}: positions {start}..{start + n - 1} are not within 0..{cache.max_len - 1}")

    def __call__(self, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """q [T, H, D], k and v [T, KV, D] -> [T, H, D], T = sum of lens; entries lie one after the other."""
        raise NotImplementedError("exercise 02.1: write the body of DenseAttention.__call__")
