"""Attention through the page table against the contiguous oracle of chapter 02."""

from __future__ import annotations

import random

import pytest
import torch

from minisgl_lite.attention.dense import DenseAttention, DenseCache
from minisgl_lite.attention.paged import TorchPagedAttention
from minisgl_lite.core import Batch, Phase, Req, SamplingParams
from minisgl_lite.engine.slots import Tables
from minisgl_lite.kvcache.pages import PageAllocator
from minisgl_lite.kvcache.pool import KVPool
from minisgl_lite.models.scripted import scripted_config

CONFIG = scripted_config(max_seq_len=64)
ROWS = 20


class Both:
    """The same batches through the page table and through contiguous rows."""

    def __init__(self, size: int, seed: int) -> None:
        torch.manual_seed(seed)
        pages = ROWS * 64 // size
        self.allocator = PageAllocator(pages, size)
        shape = (CONFIG.num_layers, pages, size, CONFIG.num_kv_heads, CONFIG.head_dim)
        self.pool = KVPool(*shape, torch.float32, "cpu")
        # what nobody has written may be anything, also no number, and must never show
        self.pool.k.fill_(float("nan"))
        self.pool.v.fill_(float("nan"))
        self.tables = Tables(ROWS, 64, size, torch.device("cpu"))
        self.dense = DenseCache(CONFIG, ROWS, 64)
        self.reqs = [Req(uid, [1] * 64, SamplingParams()) for uid in range(ROWS)]
        for req in self.reqs:
            req.table_idx = ROWS - 1 - req.uid

    def step(self, phase: Phase, work: list[tuple[int, int]]) -> None:
        """Compute n more positions of each (uid, n); compare the outputs of every layer."""
        batch = Batch(phase)
        for uid, n in work:
            req = self.reqs[uid]
            batch.add(req, n)
            new = self.allocator.take(self.allocator.pages_for(req.cached_len + n) - len(req.pages))
            for row_col_page in [(req.row, len(req.pages) + i, page) for i, page in enumerate(new)]:
                for part, value in zip(batch.new_pages, row_col_page, strict=True):
                    part.append(value)
            req.pages += new
        if phase == "decode":
            batch.ids = []
        total = sum(n for _, n in work)
        paged = TorchPagedAttention(self.pool).prepare(self.tables.build(batch))
        dense = DenseAttention(self.dense, batch.rows, batch.starts, batch.lens)
        for layer in range(CONFIG.num_layers):
            q = torch.randn(total, CONFIG.num_heads, CONFIG.head_dim)
            k, v = torch.randn(2, total, CONFIG.num_kv_heads, CONFIG.head_dim)
            torch.testing.assert_close(paged(layer, q, k, v), dense(layer, q, k, v))
        for uid, n in work:
            self.reqs[uid].cached_len += n


@pytest.mark.parametrize("size", [1, 3, 16])
def test_prefill_pieces_and_decode(size):
    both = Both(size, size)
    both.step("prefill", [(0, 5), (1, 1), (2, 16)])
    both.step("prefill", [(0, 3), (3, 8)])  # three queries over eight keys: aligned to the bottom right
    both.step("decode", [(0, 1), (1, 1), (2, 1), (3, 1)])
    both.step("decode", [(1, 1), (3, 1)])
    both.step("prefill", [(4, 2), (5, 1)])
    both.step("prefill", [(4, 2), (5, 18)])  # from the middle of a page into a new one, which is not filled
    both.step("decode", [(4, 1), (5, 1)])


@pytest.mark.parametrize("rows", [1, 5, 7, 8, 15, 16, 20])
def test_decode_groups(rows):
    """One to five groups of rows, lengths from 1 to 60; Both compares every step with the dense oracle."""
    rnd = random.Random(rows)
    both = Both(4, rows)
    both.step("prefill", [(uid, rnd.choice([1, 2, 4, 30, 59])) for uid in range(rows)])
    for _ in range(3):
        both.step("decode", [(uid, 1) for uid in range(rows)])
