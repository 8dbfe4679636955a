"""Attention in pieces over the page layout: against the whole, against the torch backend, and in the engine."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
import torch

from minisgl_lite import LLM, SamplingParams
from minisgl_lite.attention.causal import attention
from minisgl_lite.attention.layout import page_layout
from minisgl_lite.attention.merge import Partial, SplitAttention, cut, merge, partial_attention, piece_pages
from minisgl_lite.attention.paged import TorchPagedAttention
from minisgl_lite.core import Batch, Phase, Req
from minisgl_lite.engine.slots import Tables
from minisgl_lite.kvcache.pages import PageAllocator
from minisgl_lite.kvcache.pool import KVPool

ROWS, MOST, LAYERS, HEADS, KV_HEADS, DIM = 8, 96, 2, 4, 2, 8


def test_parts_merge_to_the_whole():
    """However the keys are cut up, also where a query sees nothing of a part."""
    torch.manual_seed(0)
    rnd = random.Random(0)
    for _ in range(20):
        new, total = rnd.randint(1, 4), rnd.randint(6, 30)
        q, k, v = torch.randn(new, HEADS, DIM), torch.randn(total, KV_HEADS, DIM), torch.randn(total, KV_HEADS, DIM)
        cuts = [0, *sorted(rnd.sample(range(1, total), rnd.randint(0, 4))), total]
        sees = torch.arange(new) + total - new + 1
        parts = [partial_attention(q, k[a:b], v[a:b], (sees - a).clamp(0, b - a)) for a, b in pairwise(cuts)]
        rnd.shuffle(parts)
        torch.testing.assert_close(merge(parts).out, attention(q, k, v))
        # and in two rounds, as a tree would
        torch.testing.assert_close(merge([merge(parts[:1]), *parts[1:]]).lse, merge(parts).lse)


def test_scores_beyond_what_exp_holds():
    q = torch.full((1, HEADS, DIM), 40.0)
    k = torch.randn(7, KV_HEADS, DIM) + 10.0
    v = torch.randn(7, KV_HEADS, DIM)
    parts = [partial_attention(q, k[a:b], v[a:b], torch.tensor([b - a])) for a, b in ((0, 3), (3, 7))]
    torch.testing.assert_close(merge(parts).out, attention(q, k, v), rtol=1e-4, atol=1e-3)


def test_a_query_that_sees_nothing():
    nothing = partial_attention(torch.randn(1, 2, 4), torch.randn(3, 2, 4), torch.randn(3, 2, 4), torch.tensor([0]))
    assert nothing.out.eq(0).all()
    assert nothing.lse.eq(float("-inf")).all()
    both = merge([nothing, nothing])
    assert both.out.eq(0).all()
    assert both.lse.eq(float("-inf")).all()
    some = Partial(torch.ones(1, 2, 4), torch.zeros(1, 2))
    assert merge([nothing, some]).out.equal(some.out)


def test_no_more_pieces_than_blocks():
    """The smallest piece that gives no more pieces than blocks, found by trying all."""
    rnd = random.Random(1)
    for _ in range(100):
        counts = [rnd.choice([1, 2, rnd.randint(1, 60)]) for _ in range(rnd.randint(1, 8))]
        blocks = rnd.randint(1, 24)
        fits = [n for n in range(1, max(counts) + 1) if sum(-(-count // n) for count in counts) <= blocks]
        assert piece_pages(counts, blocks) == min(fits, default=max(counts))


def test_every_page_is_in_one_piece():
    layout = page_layout([0, 30, 7], [5, 1, 2], 4)
    pieces = cut(layout.counts, layout.ends, 5)
    assert [page for piece in pieces for page in range(piece.first, piece.end)] == list(range(layout.ends[-1]))
    assert all(layout.ends[p.entry] <= p.first < p.end <= layout.ends[p.entry + 1] for p in pieces)


class Both:
    """The same steps through both backends, each with a pool of its own that begins with nothing but NaN."""

    def __init__(self, size: int, blocks: int, seed: int) -> None:
        torch.manual_seed(seed)
        pages = ROWS * -(-MOST // size)
        self.allocator = PageAllocator(pages, size)
        self.tables = Tables(ROWS, MOST, size, torch.device("cpu"))
        pools = [KVPool(LAYERS, pages, size, KV_HEADS, DIM, torch.float32, "cpu") for _ in range(2)]
        for pool in pools:
            pool.k.fill_(float("nan"))
            pool.v.fill_(float("nan"))
        self.backends = (TorchPagedAttention(pools[0]), SplitAttention(pools[1], blocks))
        self.reqs = [Req(uid, [1] * MOST, SamplingParams()) for uid in range(ROWS)]
        for req in self.reqs:
            req.table_idx = ROWS - 1 - req.uid

    def step(self, phase: Phase, work: list[tuple[int, int]]) -> None:
        batch = Batch(phase)
        for uid, n in work:
            req = self.reqs[uid]
            batch.add(req, n)
            new = self.allocator.take(self.allocator.pages_for(req.cached_len + n) - len(req.pages))
            for i, page in enumerate(new):
                for part, value in zip(batch.new_pages, (req.row, len(req.pages) + i, page), strict=True):
                    part.append(value)
            req.pages += new
        if phase == "decode":
            batch.ids = []
        inputs = self.tables.build(batch)
        steps = [backend.prepare(inputs) for backend in self.backends]
        total = sum(n for _, n in work)
        for layer in range(LAYERS):
            q = torch.randn(total, HEADS, DIM)
            k, v = torch.randn(2, total, KV_HEADS, DIM)
            whole, split = (step(layer, q, k, v) for step in steps)
            torch.testing.assert_close(split, whole)
        for uid, n in work:
            self.reqs[uid].cached_len += n


@pytest.mark.parametrize(("size", "blocks"), [(1, 1), (1, 40), (4, 12), (16, 9), (16, 100)])
def test_split_attention_equals_the_torch_backend(size, blocks):
    """Random steps: new prompts, pieces of prompts, decode rounds; the pools hold NaN where nobody wrote."""
    rnd = random.Random(size * 100 + blocks)
    both = Both(size, blocks, size)
    both.step("prefill", [(uid, rnd.choice([1, size, rnd.randint(1, 40)])) for uid in range(4)])
    for _ in range(8):
        room = [req.uid for req in both.reqs if req.cached_len < MOST - 12]
        some = rnd.sample(room, rnd.randint(1, len(room)))
        both.step("prefill", [(uid, rnd.randint(1, 12)) for uid in some])
        both.step("decode", [(req.uid, 1) for req in both.reqs if req.cached_len])


@pytest.mark.parametrize("size", [1, 16])
def test_the_engine_says_the_same(size):
    prompts = ["The capital of France is", "Once upon a time,", "1 + 1 =", "def f(n):"]
    params = SamplingParams(max_tokens=12, ignore_eos=True)
    told = []
    for split in (False, True):
        with LLM("tiny", num_pages=512, page_size=size, attention_backend="torch") as llm:
            if split:
                engine = llm._parts.engine
                engine.attention = SplitAttention(engine.pool, blocks=7)
            told.append([out.token_ids for out in llm.generate(prompts, params)])
            llm.check_invariants()
    assert told[0] == told[1]
