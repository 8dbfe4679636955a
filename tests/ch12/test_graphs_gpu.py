"""On a GPU: kernels beside their torch oracles, graphs beside the engine that they wrap."""

from __future__ import annotations

import gc
import random

import pytest
import torch
import torch.nn.functional as F

from minisgl_lite import LLM, SamplingParams
from minisgl_lite.core import NO_TOKEN, Batch, Req
from minisgl_lite.engine.sampler import Sampler
from minisgl_lite.kvcache.pool import KVPool
from minisgl_lite.models.config import RopeConfig
from minisgl_lite.models.rope import Rope, rotate
from tests.helpers.checkpoints import make_checkpoint, random_prompts

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]
SENTINEL = 77.0


def close(got: torch.Tensor, want: torch.Tensor, bound: float = 0.01) -> bool:
    return bool((got.float() - want.float()).norm() <= bound * want.float().norm())


# ---- kernels beside torch -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [64, 576, 1024, 5120])
@pytest.mark.parametrize("adds", [True, False])
def test_add_and_norm(size, adds):
    from minisgl_lite.kernels.norm import add_rms_norm

    x, weight = torch.randn(9, size, device="cuda").bfloat16(), torch.rand(size, device="cuda").bfloat16()
    stream = torch.randn(9, size, device="cuda")
    total = stream + x.float() if adds else stream.clone()
    want = F.rms_norm(total, (size,), weight.float(), 1e-6)
    assert close(add_rms_norm(x if adds else None, stream, weight, 1e-6), want)
    assert torch.equal(stream, total)


@pytest.mark.parametrize("size", [96, 1000, 3072])
def test_silu_times_up(size):
    from minisgl_lite.kernels.activation import silu_mul

    both = torch.randn(7, 2 * size, device="cuda").bfloat16()
    gate, up = both.float().chunk(2, -1)
    assert close(silu_mul(both), F.silu(gate) * up)


@pytest.mark.parametrize("size", [96, 576, 1024, 2560, 4096, 8704, 12288])
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("rows", [0, 1, 2])
def test_a_single_row_times_a_matrix(size, biased, rows):
    from minisgl_lite.kernels.matvec import gated_linear, linear

    x, weight = torch.randn(rows, size, device="cuda").bfloat16(), torch.randn(130, size, device="cuda").bfloat16()
    bias = torch.randn(130, device="cuda").bfloat16() * size**0.5 if biased else None
    want = F.linear(x.float(), weight.float(), bias.float() if biased else None)
    got = linear(x, weight, bias)
    assert got.shape == (rows, 130), "a chunk that no request samples from has no row"
    assert close(got, want)
    gate, up = want.chunk(2, -1)
    assert close(gated_linear(x, weight, bias), F.silu(gate) * up)


@pytest.mark.parametrize(("heads", "kv_heads", "dim"), [(4, 2, 64), (9, 3, 64), (16, 8, 128), (5, 1, 96)])
@pytest.mark.parametrize("normed", [True, False])
def test_head_norms_rope_and_store(heads, kv_heads, dim, normed):
    from minisgl_lite.kernels.rope import rope_store
    from minisgl_lite.models.decoder import RMSNorm

    class Attention:
        head_dim = dim
        q_norm = k_norm = None

    if normed:
        for name in ("q_norm", "k_norm"):
            norm = RMSNorm(dim, 1e-6).to_empty(device="cuda").bfloat16()
            norm.weight.data.uniform_(0.5, 1.5)
            setattr(Attention, name, norm)
    with torch.inference_mode():
        rope = Rope(RopeConfig(1e4), dim, 64, torch.device("cuda"))
        qkv = torch.randn(11, (heads + 2 * kv_heads) * dim, device="cuda").bfloat16()
        positions, slots = torch.randint(0, 64, (11,), device="cuda"), torch.randperm(40, device="cuda")[:11]
        keys, values = (torch.full((40, kv_heads, dim), SENTINEL, device="cuda").bfloat16() for _ in range(2))
        q, k, v = qkv.clone().view(11, -1, dim).split([heads, kv_heads, kv_heads], 1)
        if normed:
            q, k = Attention.q_norm(q), Attention.k_norm(k)
        cos, sin = rope.rows(positions, torch.float32)
        got = rope_store(Attention, rope, qkv, positions, slots, keys, values)
        assert close(got, rotate(q.float(), cos, sin))
        assert close(keys[slots], rotate(k.float(), cos, sin))
        assert torch.equal(values[slots], v)
        others = [i for i in range(40) if i not in slots.tolist()]
        assert (keys[others] == SENTINEL).all()
        assert (values[others] == SENTINEL).all()


@pytest.mark.parametrize("page_size", [1, 3, 16])
def test_pages_as_one_list(page_size):
    from minisgl_lite.attention.layout import page_layout
    from minisgl_lite.kernels.pages import flatten_pages

    table = torch.randint(0, 10**6, (6, 2500), device="cuda")
    rows, ends = torch.tensor([4, 0, 5, 2], device="cuda"), torch.tensor([1, 2400, 16, 1025], device="cuda")
    layout = page_layout([0, 0, 0, 0], ends.tolist(), page_size)
    out = torch.full((layout.ends[-1] + 5,), -1, dtype=torch.int32, device="cuda")
    flatten_pages(table, rows, ends, page_size, torch.tensor(layout.ends, dtype=torch.int32, device="cuda"), out)
    want = [page for row, n in zip(rows.tolist(), layout.counts, strict=True) for page in table[row, :n].tolist()]
    assert out.tolist() == [*want, *[-1] * 5]


def sampling_batch(count: int, seed: int) -> Batch:
    draw = random.Random(seed)
    reqs = []
    for uid in range(count):
        params = SamplingParams(
            temperature=draw.choice([0, 0.3, 1.0, 5.0, 1e-50, 1e30]),
            seed=draw.choice([None, 0, -3, 2**63]),
            top_k=draw.choice([0, 0, 7]),
            top_p=draw.choice([1.0, 1.0, 0.8]),
            logprobs=draw.choice([None, 2]),
        )
        reqs.append(Req(uid, [1, 2], params))
    batch = Batch("decode", reqs, [3] * count, [1] * count, list(range(count)))
    batch.index = seed
    return batch


@pytest.mark.parametrize("vocab", [129, 2304, 151936])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_kernel_chooses_what_the_sampler_chooses(vocab, dtype):
    from minisgl_lite.kernels.sample import KernelSampler

    torch.manual_seed(0)
    differ = 0
    for round_ in range(4):
        logits = (torch.randn(64, vocab, device="cuda") * 3).to(dtype)
        logits[3, 5], logits[4], logits[5, 7], logits[6, ::2], logits[7] = (
            float("nan"),
            -torch.inf,
            torch.inf,
            -torch.inf,
            0,
        )
        batch = sampling_batch(64, round_)
        with torch.inference_mode():
            want, got = Sampler(5)(logits, batch)[0], KernelSampler(5)(logits, batch)[0]
        assert (got[3:6] == NO_TOKEN).all()
        differ += int((want != got).sum())
    assert differ <= 3, "sums in another order move a border between tokens now and then, not often"


def test_draws_follow_the_softmax():
    from minisgl_lite.kernels.sample import choose

    n, vocab = 100_000, 1000
    logits = torch.randn(1, vocab, device="cuda").expand(n, vocab).contiguous()
    temperature = torch.tensor(1.3).view(torch.int32).item()
    fields = (torch.full((n,), 7), torch.arange(n), torch.full((n,), temperature))
    seen = torch.bincount(choose(logits, torch.stack(fields, 1).long().cuda()), minlength=vocab).double()
    expected = torch.softmax(logits[0].double() / 1.3, -1) * n
    # chi-square with 999 degrees of freedom: mean 999, standard deviation 45
    assert float(((seen - expected) ** 2 / expected).sum()) < 999 + 5 * 45


# ---- graphs beside the engine -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("qwen3")
    make_checkpoint(path, "qwen3", hidden_size=256, intermediate_size=192, head_dim=64)
    return path


def llm(folder, **options) -> LLM:
    return LLM(folder, **{"dtype": "bfloat16", "device": "cuda", "num_pages": 512, "max_running_req": 9, **options})


@pytest.mark.parametrize("page_size", [1, 4, 16])
def test_graphs_and_overlap_change_no_token(folder, page_size):
    prompts, answers = random_prompts(30, 1, 50, seed=6), []
    params = [SamplingParams(max_tokens=5 + i, temperature=0.8 * (i % 3 == 2), seed=i) for i in range(30)]
    for most in (0, 4, 9):
        for overlap in (False, True):
            with llm(folder, page_size=page_size, cuda_graph_max_bs=most, overlap=overlap, cache_type="naive") as one:
                answers.append([out.token_ids for out in one.generate(prompts, params)])
                one.check_invariants()
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="fewer than two CUDA devices")
def test_a_gpu_that_is_not_the_first(folder):
    """Kernels of Triton are launched on the current device, not on that of their tensors."""
    prompts, answers = random_prompts(5, 1, 50, seed=6), []
    try:
        for device in ("cuda:0", "cuda:1"):
            torch.cuda.set_device(0)
            with llm(folder, device=device) as one:
                answers.append([out.token_ids for out in one.generate(prompts, SamplingParams(max_tokens=12))])
    finally:
        torch.cuda.set_device(0)
    assert answers[0] == answers[1]


@pytest.mark.parametrize("page_size", [1, 16])
def test_padding_touches_nothing_that_is_not_its_own(folder, page_size):
    """Three entries in a graph for four: every page, row and token that nobody owns is as it was."""
    with llm(folder, page_size=page_size, overlap=False, cache_type="naive") as one:
        engine = one._parts.engine
        for part in (engine.pool.k, engine.pool.v):
            part.fill_(SENTINEL)
        engine.tables.token_pool.fill_(7)
        for prompt in random_prompts(3, 20, 40, seed=1):
            one.submit(prompt, SamplingParams(max_tokens=30, ignore_eos=True))
        for _ in range(20):
            one.step()
        accounts = one._scheduler.cache.accounts.values()
        owned = {page * page_size + i for req in accounts for page in req.pages for i in range(page_size)}
        free = [slot for slot in range(engine.pool.k.shape[1]) if slot not in owned]
        assert len(free) > 300
        for part in (engine.pool.k, engine.pool.v):
            assert (part[:, free] == SENTINEL).all()
        rows = [row for row in range(9) if row not in [req.row for req in accounts]]
        assert (engine.tables.token_pool[rows] == 7).all()
        one.check_invariants()


@pytest.mark.parametrize("shape", [(64, 8, 128), (8, 1, 64), (4, 2, 128)])
@pytest.mark.parametrize("entries", [256, 72, 24])
def test_one_plan_serves_all_steps_or_is_made_anew(shape, entries):
    """The attention of a graph beside the torch backend, for rows that grow and shrink from step to step."""
    from minisgl_lite.attention.flashgraph import FlashInferGraphAttention
    from minisgl_lite.attention.flashinfer import FlashInferAttention
    from minisgl_lite.attention.paged import TorchPagedAttention
    from minisgl_lite.engine.capture import CudaCapture
    from minisgl_lite.engine.slots import StepInputs

    cuda, (heads, kv_heads, dim), size = torch.device("cuda"), shape, 16
    pool = KVPool(1, entries * 20 + 1, size, kv_heads, dim, torch.bfloat16, cuda)
    pool.k.normal_()
    pool.v.normal_()
    table = torch.randperm(entries * 20, device=cuda).view(entries, 20)
    indices = torch.zeros(entries * 20, dtype=torch.int32, device=cuda)
    attention = FlashInferGraphAttention(FlashInferAttention(pool), heads, torch.bfloat16, entries, indices)
    rows, positions = torch.arange(entries, device=cuda), torch.zeros(entries, dtype=torch.int64, device=cuda)
    qkv = [torch.randn(entries, h, dim, device=cuda).bfloat16() for h in (heads, kv_heads, kv_heads)]

    def inputs(starts: list[int]) -> StepInputs:
        slots = table[rows, positions // size] * size + positions % size
        return StepInputs(
            *(rows, positions, slots, rows, table, positions + 1),
            *(tuple(starts), (1,) * len(starts), None, rows, positions),
        )

    def step() -> None:
        out.copy_(attention.prepare(inputs([]))(0, *qkv))

    out, draw = torch.zeros_like(qkv[0]), random.Random(entries)
    with torch.inference_mode():
        attention.plan([0] * entries)
        replay = CudaCapture(cuda)(step)
        for longest in (1, 300, 40, 319):
            starts = [draw.randrange(longest) for _ in range(entries)]
            attention.plan(starts)
            positions.copy_(torch.tensor(starts))
            replay()
            want = TorchPagedAttention(pool).prepare(inputs(starts))(0, *qkv)
            assert close(out, want)


def test_capture_leaves_an_empty_pool_and_its_memory_comes_back(folder):
    def used() -> int:
        gc.collect()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        return torch.cuda.memory_allocated()

    before = used()
    one = llm(folder)
    assert not one._parts.engine.pool.k.any()
    assert one.generate([[5, 6, 7]], SamplingParams(max_tokens=4, ignore_eos=True))[0].token_ids
    one.close()
    del one
    assert used() - before < 150 << 20, "more than FlashInfer's own workspace is still there"


def test_ten_thousand_random_steps(folder):
    """Requests come, decode, are aborted; the books are right after each step, the device's tables after each tenth."""
    draw = random.Random(0)
    with llm(folder, page_size=4, num_pages=48, max_running_req=5, max_extend_tokens=24) as one:
        alive: list[int] = []
        for step in range(10_000):
            if draw.random() < 0.12 and len(alive) < 12:
                prompt = [draw.randrange(4, 128) for _ in range(draw.randint(1, 30))]
                temperature = draw.choice([0.0, 0.0, 1.0])
                alive.append(
                    one.submit(prompt, SamplingParams(max_tokens=draw.randint(1, 40), temperature=temperature))
                )
            if alive and draw.random() < 0.03:
                one.abort(draw.choice(alive))
            for uid, _, reason in one.step():
                if reason is not None:
                    alive.remove(uid)
            one._scheduler.check()
            if step % 10 == 0:
                one.check_invariants()
        while one.has_work:
            one.step()
        one.check_invariants()
        cache = one._scheduler.cache
        assert cache.allocator.free + cache.evictable_pages == 48
