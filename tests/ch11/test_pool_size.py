"""How many pages the KV pool gets where nobody says: by the memory there is, and by what the rows could ever use."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from minisgl_lite.assembly import CPU_POOL_BYTES, default_pages
from minisgl_lite.config import EngineConfig

SIZES = SimpleNamespace(num_layers=2, num_kv_heads=4, head_dim=16)
POSITION = 2 * 2 * 4 * 16 * 2
"""Bytes: keys and values, layers, heads, numbers, two bytes each."""


def pages(device: str, max_seq_len: int, **options) -> int:
    checkpoint = SimpleNamespace(local=SIZES, dtype=torch.bfloat16, device=torch.device(device))
    return default_pages(EngineConfig(**options), checkpoint, max_seq_len)


@pytest.fixture
def free(monkeypatch):
    """A GPU with room for 10,000 positions, of which others hold a tenth: only what is free counts."""
    asked = []
    monkeypatch.setattr(
        torch.cuda, "mem_get_info", lambda device: asked.append(device) or (9_000 * POSITION, 10_000 * POSITION)
    )
    return asked


@pytest.mark.parametrize(
    ("ratio", "size", "want"), [(0.9, 1, 8_100), (0.5, 1, 4_500), (1.0, 1, 9_000), (0.9, 16, 506), (0.001, 16, 64)]
)
def test_on_a_gpu_a_share_of_what_is_free_and_never_less_than_a_context(free, ratio, size, want):
    assert pages("cuda:1", 1_024 if size > 1 else 512, memory_ratio=ratio, page_size=size) == want
    assert free == [torch.device("cuda:1")]


def test_no_more_than_all_rows_could_use(free):
    assert pages("cuda", 100, max_running_req=3) == 300
    assert pages("cuda", 100, max_running_req=3, page_size=16) == 3 * 7, "each row's last page is its own"
    assert pages("cpu", 100, max_running_req=3) == 300


def test_on_a_cpu_a_fixed_size():
    assert pages("cpu", 1 << 20, memory_ratio=0.1) == CPU_POOL_BYTES // POSITION
