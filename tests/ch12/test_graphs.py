"""Decode graphs on tape, without a GPU: the same tokens, nothing written that is not owned, padding known to nobody."""

from __future__ import annotations

import random

import pytest
import torch

from minisgl_lite import LLM, SamplingParams
from minisgl_lite.assembly import Custom, assemble
from minisgl_lite.attention.fixed import FixedShapeAttention
from minisgl_lite.attention.paged import TorchPagedAttention
from minisgl_lite.config import EngineConfig
from minisgl_lite.core import Batch, Req
from minisgl_lite.engine.buckets import bucket_for, bucket_sizes, pad
from minisgl_lite.engine.slots import Tables
from minisgl_lite.engine.tape import tape_decode
from minisgl_lite.kvcache.pool import KVPool

MOST = 8


def decode_batch(entries: list[tuple[int, int, list[int]]]) -> Batch:
    """entries: (row, start, pages)."""
    reqs = []
    for uid, (row, start, pages) in enumerate(entries):
        req = Req(uid, range(start), SamplingParams())
        req.table_idx, req.cached_len, req.pages = row, start + 1, pages
        reqs.append(req)
    return Batch("decode", reqs, [e[1] for e in entries], [1] * len(entries), [e[0] for e in entries], index=1)


def graphs(fill: float = 1e4, runners: list | None = None) -> Custom:
    """Graphs on tape up to MOST entries, around an engine whose pool holds what nobody should read."""

    def around(engine):
        runner = tape_decode(engine, bucket_sizes(MOST))
        for part in (engine.pool.k, engine.pool.v):
            part.fill_(fill)
        if runners is not None:
            runners.append(runner)
        return runner

    return Custom(around_runner=around)


@pytest.mark.parametrize("page_size", [1, 16])
@pytest.mark.parametrize("overlap", [False, True])
def test_graphs_change_no_token(page_size, overlap):
    draw = random.Random(page_size)
    prompts = [[draw.randrange(3, 2000) for _ in range(draw.randint(1, 30))] for _ in range(9)]
    # one request ends after the other, so batches of 9 down to 1 come by
    params = [SamplingParams(max_tokens=3 + 2 * i, ignore_eos=True) for i in range(9)]
    told = []
    for custom in (None, graphs()):
        options = {"num_pages": 512 // page_size, "page_size": page_size, "max_seq_len": 64, "device": "cpu"}
        with LLM("tiny", overlap=overlap, custom=custom, **options) as llm:
            told.append([out.token_ids for out in llm.generate(prompts, params)])
            llm.check_invariants()
            assert {len(r.entries) for r in llm.trace if r.phase == "decode"} == set(range(1, 10))
    assert told[0] == told[1]


@pytest.mark.parametrize("page_size", [1, 4, 16])
@pytest.mark.parametrize("entries", [1, 3, 5, 8])
@torch.inference_mode()
def test_a_padded_step_writes_what_its_entries_own(page_size, entries):
    rows, pages = 12, 40
    config = EngineConfig("tiny", device="cpu", num_pages=pages, page_size=page_size, max_running_req=rows,
                          max_seq_len=64, cache_type="naive")  # fmt: skip
    engine = assemble(config).engine
    runner = tape_decode(engine, [8])
    watched = (engine.pool.k, engine.pool.v, engine.tables.token_pool, engine.tables.page_table)
    for part, sentinel in zip(watched, (7.5, 7.5, 77, pages - 1), strict=True):
        part.fill_(sentinel)
    draw = random.Random(entries)
    free = draw.sample(range(pages), pages)
    batch = []
    for row in draw.sample(range(rows), entries):
        start = draw.randrange(4 if page_size == 1 else 2 * page_size)
        batch.append((row, start, [free.pop() for _ in range(start // page_size + 1)]))
        engine.tables.page_table[row, : len(batch[-1][2])] = torch.tensor(batch[-1][2])
    before = [part.clone() for part in watched]
    runner.forward_batch(decode_batch(batch))
    keys, values, tokens, table = (old != new for old, new in zip(before, watched, strict=True))
    slots = sorted(own[-1] * page_size + start % page_size for _, start, own in batch)
    for part in (keys, values):
        assert part.flatten(2).any(2).all(0).nonzero()[:, 0].tolist() == slots, "every layer writes the entries' slots"
        assert part.flatten(2).any(2).any(0).nonzero()[:, 0].tolist() == slots, "and nothing else"
    assert tokens.nonzero().tolist() == sorted([row, start + 1] for row, start, _ in batch)
    assert not table.any()


@torch.inference_mode()
def test_a_graph_writes_new_pages_into_the_table():
    config = EngineConfig("tiny", device="cpu", num_pages=8, page_size=4, max_running_req=4, max_seq_len=16)
    engine = assemble(config).engine
    runner = tape_decode(engine, [4])
    engine.tables.page_table.fill_(7)
    runner.forward_batch(decode_batch([(2, 4, [5, 3]), (1, 2, [6])]))
    assert engine.tables.page_table.tolist() == [[7] * 4, [6, 7, 7, 7], [7, 3, 7, 7], [7] * 4]


def test_large_batches_and_prefills_go_to_the_engine(monkeypatch):
    runners: list = []
    with LLM("tiny", device="cpu", num_pages=256, max_seq_len=64, overlap=False, custom=graphs(runners=runners)) as llm:
        went = []
        engine, runner = runners[0].engine, runners[0]
        forward = engine.forward_batch
        monkeypatch.setattr(engine, "forward_batch", lambda b: went.append((b.phase, len(b.reqs))) or forward(b))
        for size, graph in runner.graphs.items():
            run = graph.run
            monkeypatch.setattr(graph, "run", lambda b, size=size, run=run: went.append(size) or run(b))
        llm.generate([[5, 6]] * 11, [SamplingParams(max_tokens=2 + i, ignore_eos=True) for i in range(11)])
    decodes = [("decode", n) if n > MOST else bucket_for(bucket_sizes(MOST), n) for n in range(11, 0, -1)]
    assert went == [("prefill", 11), *decodes]


@pytest.mark.parametrize("page_size", [1, 4])
def test_random_requests_with_aborts_and_stops(page_size):
    draw = random.Random(12)
    requests = {}
    options = {"num_pages": 160 // page_size, "page_size": page_size, "max_seq_len": 48, "max_running_req": 10}
    with LLM("tiny", device="cpu", custom=graphs(), **options) as llm:
        told: dict[int, list[int]] = {}
        for step in range(150):
            if step < 110 and draw.random() < 0.4:
                prompt = [draw.randrange(3, 2000) for _ in range(draw.randint(1, 20))]
                params = SamplingParams(max_tokens=draw.randint(1, 20), ignore_eos=draw.random() < 0.5)
                requests[llm.submit(prompt, params)] = (prompt, params)
            if requests and draw.random() < 0.08:
                llm.abort(draw.choice(list(requests)))
            for uid, token, _ in llm.step():
                told.setdefault(uid, []).extend([] if token is None else [token])
            llm.check_invariants()
        while llm.has_work:
            for uid, token, _ in llm.step():
                told.setdefault(uid, []).extend([] if token is None else [token])
        assert llm._scheduler.table.available == 10
    assert len(requests) > 30
    with LLM("tiny", device="cpu", num_pages=512, max_seq_len=48) as plain:
        uids = list(requests)
        outs = plain.generate([requests[uid][0] for uid in uids], [requests[uid][1] for uid in uids])
    for uid, out in zip(uids, outs, strict=True):
        mine = told.get(uid, [])
        # a stop token is told by an event and left out of the answer
        assert mine[: len(out.token_ids)] == out.token_ids[: len(mine)], f"request {uid}"


@pytest.mark.parametrize("page_size", [1, 4])
@torch.inference_mode()
def test_attention_of_a_fixed_shape_equals_the_paged_one(page_size):
    draw = random.Random(page_size)
    generator = torch.Generator().manual_seed(3)
    device = torch.device("cpu")
    for _ in range(10):
        entries, columns = draw.randint(1, 9), 32 // page_size
        tables = Tables(12, 32, page_size, device)
        tables.page_table.copy_(torch.randperm(12 * columns, generator=generator).view(12, columns))
        batch = decode_batch(
            [(row, draw.randrange(32), tables.page_table[row].tolist()) for row in draw.sample(range(12), entries)]
        )
        inputs = tables._decode(_with_new_pages(batch, page_size))
        q = torch.randn(entries, 8, 16, generator=generator)
        k, v = (torch.randn(entries, 2, 16, generator=generator) for _ in range(2))
        pools = [KVPool(2, 12 * columns, page_size, 2, 16, torch.float32, device) for _ in range(2)]
        fill = torch.randn(2, *pools[0].k.shape, generator=generator)
        for pool in pools:
            pool.k.copy_(fill[0])
            pool.v.copy_(fill[1])
        fixed = FixedShapeAttention(pools[1], entries)
        fixed.plan(batch.starts)
        want = TorchPagedAttention(pools[0]).prepare(inputs)(1, q, k, v)
        # what the host says comes by the plan alone
        got = fixed.prepare(inputs._replace(starts=(), lens=()))(1, q, k, v)
        torch.testing.assert_close(got, want)
        assert torch.equal(pools[1].k[0], fill[0, 0]), "another layer"


def _with_new_pages(batch: Batch, page_size: int) -> Batch:
    columns = [start // page_size for start in batch.starts]
    pages = [req.pages[column] for req, column in zip(batch.reqs, columns, strict=True)]
    batch.new_pages = (list(batch.rows), columns, pages)
    return batch


# ---- buckets and padding --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [*range(1, 40), 256, 300])
def test_every_batch_has_a_bucket_and_little_padding(most):
    sizes = bucket_sizes(most)
    assert sizes == [n for n in range(1, most + 1) if n in (1, 2, 4, most) or n % 8 == 0]
    for n in range(1, most + 1):
        assert bucket_for(sizes, n) == min(size for size in sizes if size >= n) <= n + 7
    assert bucket_for(sizes, most + 1) is None


def test_thirty_five_graphs_up_to_256():
    assert len(bucket_sizes(256)) == 35


def test_padding_repeats_the_shortest_entry():
    batch = decode_batch([(1, 9, [4, 6]), (5, 2, [9]), (2, 5, [8])])
    assert pad(batch, 5) == ([1, 5, 2, 5, 5], [9, 2, 5, 2, 2], [6, 9, 8, 9, 9])
    assert pad(batch, 3) == ([1, 5, 2], [9, 2, 5], [6, 9, 8])
    assert (batch.rows, batch.starts, len(batch.reqs)) == ([1, 5, 2], [9, 2, 5], 3)
