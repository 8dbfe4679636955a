"""On a GPU: FlashInfer's attention beside the torch backend, and whole answers beside Hugging Face in float32."""

from __future__ import annotations

import copy

import pytest
import torch

from minisgl_lite import LLM, SamplingParams
from minisgl_lite.attention.paged import TorchPagedAttention
from minisgl_lite.core import Batch, Req
from minisgl_lite.engine.slots import Tables
from minisgl_lite.kvcache.pool import KVPool
from minisgl_lite.models.places import BUNDLED, SMOLLM2
from tests.helpers.checkpoints import make_checkpoint, random_prompts
from tests.helpers.halves import BOUND, Reference

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]
KINDS = {"llama": {"head_dim": 64}, "qwen2": {}, "qwen3": {"head_dim": 128}, "mistral": {"head_dim": 64}}
LONG = 2_000_000_000


class Step:
    """A pool of random numbers, `entries` requests with random pages, and one batch over them."""

    def __init__(self, page_size: int, phase: str, starts: list[int], lens: list[int], shape=(4, 2, 64)) -> None:
        cuda, (self.heads, kv_heads, dim) = torch.device("cuda"), shape
        needed = [-(-(start + n) // page_size) for start, n in zip(starts, lens, strict=True)]
        self.pool = KVPool(2, sum(needed) + 1, page_size, kv_heads, dim, torch.bfloat16, cuda)
        self.pool.k.normal_()
        self.pool.v.normal_()
        self.tables = Tables(len(starts), max(needed) * page_size, page_size, cuda)
        pages = torch.randperm(sum(needed)).tolist()
        self.batch = Batch(phase, [Req(i, [1], SamplingParams()) for i in range(len(starts))], starts, lens)
        self.batch.rows = list(range(len(starts)))
        self.batch.ids = [1] * sum(lens) if phase == "prefill" else []
        new = [(row, col) for row, n in enumerate(needed) for col in range(n)]
        for (row, col), page in zip(new, pages, strict=True):
            self.tables.page_table[row, col] = page
        if phase == "prefill" or page_size > 1:
            self.batch.new_pages = ([r for r, _ in new], [c for _, c in new], pages)
        else:
            last = [self.tables.page_table[row, start].item() for row, start in enumerate(starts)]
            self.batch.new_pages = (self.batch.rows, starts, last)

    def of(self, entries: list[int]) -> Step:
        """A decode step of some of the entries, in the same pool."""
        other = copy.copy(self)
        batch = self.batch
        other.batch = Batch("decode", *([part[i] for i in entries] for part in (batch.reqs, batch.starts, batch.lens)))
        other.batch.rows = entries
        return other

    def run(self, backend) -> torch.Tensor:
        torch.manual_seed(1)
        total, (kv_heads, dim) = sum(self.batch.lens), self.pool.k.shape[2:]
        q, k, v = (torch.randn(total, h, dim, device="cuda").bfloat16() for h in (self.heads, kv_heads, kv_heads))
        with torch.inference_mode():
            return backend.prepare(self.tables.build(self.batch))(1, q, k, v).float()


def close(got: torch.Tensor, want: torch.Tensor) -> bool:
    return bool((got - want).norm() <= 0.01 * want.norm())


@pytest.mark.parametrize("page_size", [1, 3, 16])
@pytest.mark.parametrize(
    ("phase", "starts", "lens"),
    [
        ("decode", [0], [1]),
        ("decode", [5, 300, 17, 0, 64], [1] * 5),
        ("decode", list(range(3, 83)), [1] * 80),
        ("prefill", [0, 0, 0], [7, 1, 130]),
        ("prefill", [33, 0, 16, 1], [5, 9, 16, 1]),
    ],
)
def test_attention_equals_the_torch_backend(page_size, phase, starts, lens):
    from minisgl_lite.attention.flashinfer import FlashInferAttention

    step = Step(page_size, phase, starts, lens)
    want = step.run(TorchPagedAttention(step.pool))
    assert close(step.run(FlashInferAttention(step.pool)), want)


@pytest.mark.parametrize("lens", [[9] * 20, [17], [100, 3, 9]])
def test_the_workspace_is_large_enough_for_many_heads_a_kv_head(lens):
    """Short chunks over long rows are what is cut into the most and the widest pieces: here 139 MB of them."""
    from minisgl_lite.attention.flashinfer import FlashInferAttention
    from minisgl_lite.attention.pieces import WORKSPACE_BYTES

    step = Step(16, "prefill", [3000 + i for i in range(len(lens))], lens, shape=(64, 8, 128))
    backend = FlashInferAttention(step.pool)
    assert close(step.run(backend), step.run(TorchPagedAttention(step.pool)))
    assert backend.workspace(64).numel() > WORKSPACE_BYTES


def test_a_plan_is_not_overwritten_before_the_device_has_fetched_it():
    from minisgl_lite.attention.flashinfer import FlashInferAttention

    step = Step(16, "decode", [40 * (i % 7) + i for i in range(9)], [1] * 9)
    rows = [[i % 9, (i + 4) % 9] if i % 2 else list(range(i % 9 + 1)) for i in range(12)]

    def runs(backend) -> list[torch.Tensor]:
        return [step.of(some).run(backend) for some in rows]

    want, backend = runs(TorchPagedAttention(step.pool)), FlashInferAttention(step.pool)
    runs(backend)  # compiles
    torch.cuda.synchronize()
    torch.cuda._sleep(LONG // 4)  # all that follows is launched behind this
    assert all(close(got, one) for got, one in zip(runs(backend), want, strict=True))


@pytest.mark.parametrize(("page_size", "running"), [(1, 8), (16, 8), (16, 1)])
@pytest.mark.parametrize("kind", KINDS)
def test_answers_of_random_checkpoints(tmp_path, kind, page_size, running):
    make_checkpoint(tmp_path, kind, hidden_size=256, intermediate_size=192, eos_token_id=2, **KINDS[kind])
    compare(tmp_path, random_prompts(16, 1, 60, seed=3), 24, page_size, running)


@pytest.mark.parametrize("name", ["tiny", "smollm2"])
def test_answers_of_real_checkpoints(name):
    folder = BUNDLED["tiny"] if name == "tiny" else SMOLLM2
    if not folder.is_dir():
        pytest.skip("smollm2 was not fetched")
    for running in (8, 1):
        compare(folder, random_prompts(10, 5, 60, seed=5), 32, 16, running)


def compare(folder, prompts, new, page_size, running) -> None:
    reference, pages = Reference(folder), 4096 // page_size
    with LLM(
        folder, dtype="bfloat16", device="cuda", page_size=page_size, num_pages=pages, max_running_req=running
    ) as llm:
        assert type(llm._parts.engine.attention).__name__ == "FlashInferAttention"
        outs = llm.generate(prompts, SamplingParams(max_tokens=new, ignore_eos=True))
        llm.check_invariants()
    gaps = [reference.apart(prompt, out.token_ids) for prompt, out in zip(prompts, outs, strict=True)]
    print(f"\n{folder}: {gaps.count(0.0)} of {len(gaps)} equal; others apart by {sorted(g for g in gaps if g)}")
    assert max(gaps) <= BOUND


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dtype": "float32", "attention_backend": "flashinfer"}, "float32 on cuda.*16 bits"),
        ({"dtype": "float32", "cuda_graph_max_bs": 8}, "cuda_graph_max_bs is 8"),
    ],
)
def test_what_cannot_run_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        LLM("tiny", device="cuda", **options)


def test_float32_keeps_the_torch_backend():
    with LLM("tiny", dtype="float32", device="cuda", num_pages=64) as llm:
        assert type(llm._parts.engine.attention) is TorchPagedAttention
