"""Where the KV pool keeps what: the arithmetic that chapter 04 prints."""

from __future__ import annotations

import pytest
import torch

from minisgl_lite.kvcache.pool import KVPool


@pytest.mark.parametrize(
    ("sizes", "dtype", "expected"),
    [((28, 8, 128), torch.bfloat16, 114_688), ((4, 4, 64), torch.float32, 8_192), ((1, 1, 1), torch.float16, 4)],
)
def test_bytes_per_token(sizes, dtype, expected):
    assert KVPool.bytes_per_token(*sizes, dtype) == expected
    layers, kv_heads, head_dim = sizes
    pool = KVPool(layers, 2, 3, kv_heads, head_dim, dtype, "cpu")
    assert pool.k.nbytes + pool.v.nbytes == 6 * expected


def test_a_slot_is_one_stretch_of_one_layer():
    """Layer 2, page 1, offset 2 of pages of 4: where the bytes of the keys begin, and that nothing else changes."""
    pool = KVPool(4, 24, 4, 2, 8, torch.float32, "cpu")
    pool.store(2, torch.tensor([1 * 4 + 2]), torch.ones(1, 2, 8), torch.full((1, 2, 8), 2.0))
    first = (2 * 24 * 4 + 6) * 2 * 8
    assert pool.k.view(-1).nonzero()[:, 0].tolist() == list(range(first, first + 16))
    assert pool.v.view(-1).nonzero()[:, 0].tolist() == list(range(first, first + 16))


def test_store_writes_each_position_to_its_slot():
    pool = KVPool(1, 4, 2, 1, 1, torch.float32, "cpu")
    k = torch.tensor([1.0, 2.0, 3.0]).view(3, 1, 1)
    pool.store(0, torch.tensor([5, 0, 6]), k, -k)
    assert pool.k.flatten().tolist() == [2, 0, 0, 0, 0, 1, 3, 0]
    assert pool.v.flatten().tolist() == [-2, 0, 0, 0, 0, -1, -3, 0]
