"""The KV pool: one big tensor of keys and one of values, shared by all requests. Chapter 04."""

from __future__ import annotations

import torch


class KVPool:
    """Storage for `num_pages * page_size` positions of every layer.

    k, v: [layers, slots, kv_heads, head_dim]. Slot s is offset s % page_size of page s // page_size. The pool owns the
    tensors and knows nothing of requests: who may write where is decided by the scheduler's cache manager.
    """

    def __init__(
        self,
        layers: int,
        num_pages: int,
        page_size: int,
        kv_heads: int,
        head_dim: int,
        dtype: torch.dtype,
        device: torch.device | str,
    ) -> None:
        shape = (layers, num_pages * page_size, kv_heads, head_dim)
        self.page_size = page_size
        self.k = torch.zeros(shape, dtype=dtype, device=device)
        self.v = torch.zeros(shape, dtype=dtype, device=device)

    @staticmethod
    def bytes_per_token(layers: int, kv_heads: int, head_dim: int, dtype: torch.dtype) -> int:
        """Bytes that one position takes: keys and values, over all layers."""
        return 2 * layers * kv_heads * head_dim * dtype.itemsize

    def store(self, layer: int, slots: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> None:
        """Write k, v [T, kv_heads, head_dim] into slots [T] of one layer.

        Slots are distinct, but for entries that pad a batch: those write the same numbers once more.
        """
        self.k[layer].index_copy_(0, slots, k)
        self.v[layer].index_copy_(0, slots, v)
