"""On a GPU: nothing that is launched or fetched waits for what was launched after it."""

from __future__ import annotations

import pytest
import torch

from minisgl_lite import LLM, SamplingParams
from minisgl_lite.engine.engine import fetch_in_order
from minisgl_lite.engine.inputs import upload
from tests.helpers.checkpoints import make_checkpoint, random_prompts

CUDA = torch.cuda.is_available()
on_a_gpu = [pytest.mark.gpu, pytest.mark.skipif(not CUDA, reason="no CUDA device")]
LONG = 2_000_000_000
"""Clock cycles of a kernel that does nothing: about a second."""


def test_in_order_gives_what_was_computed():
    assert [t.tolist() for t in fetch_in_order([torch.tensor([3, 4]), torch.tensor([[0.5]])])()] == [[3, 4], [[0.5]]]


def test_a_cpu_has_no_copy_stream(tmp_path):
    make_checkpoint(tmp_path, "llama")
    with LLM(tmp_path, device="cpu", num_pages=64, overlap=True) as llm:
        assert llm._parts.engine.fetch is fetch_in_order


class TestOnAGpu:
    pytestmark = on_a_gpu

    def test_the_host_waits_for_its_batch_and_not_for_the_next(self):
        from minisgl_lite.engine.streams import CopyStream

        device = torch.device("cuda")
        fetch = CopyStream(device)
        wait = fetch((torch.arange(5, device=device) * 2, torch.ones(2, 3, device=device)))
        torch.cuda._sleep(LONG)
        later = torch.cuda.Event()
        later.record()
        assert [t.tolist() for t in wait()] == [[0, 2, 4, 6, 8], [[1.0] * 3] * 2]
        assert not later.query(), "the host waited for work that was launched after"

    def test_results_are_not_read_before_they_are_there(self):
        from minisgl_lite.engine.streams import CopyStream

        fetch, waits = CopyStream(torch.device("cuda")), []
        for i in range(50):
            torch.cuda._sleep(LONG // 100)
            waits.append(fetch((torch.full((1000,), i, device="cuda"),)))
        assert [int(wait()[0].min()) for wait in waits] == list(range(50))

    def test_an_upload_is_not_waited_for_and_its_memory_is_not_reused_too_early(self):
        torch.cuda._sleep(LONG)
        sent = [upload(torch.device("cuda"), [i] * 500, [i + 1]) for i in range(50)]
        later = torch.cuda.Event()
        later.record()
        assert not later.query(), "an upload waited for the device"
        assert [[int(part.min()) for part in parts] for parts in sent] == [[i, i + 1] for i in range(50)]

    def test_the_same_tokens_with_and_without(self, tmp_path):
        make_checkpoint(tmp_path, "qwen3", eos_token_id=[2, 7, 40])
        prompts, told = random_prompts(24, 1, 40, seed=4), []
        greedy = SamplingParams(max_tokens=20, logprobs=2)
        hot = SamplingParams(max_tokens=20, temperature=0.9, top_p=0.9, seed=5)
        for overlap in (False, True):
            with LLM(tmp_path, dtype="float32", page_size=4, num_pages=128, max_running_req=5, overlap=overlap) as llm:
                params = [hot if i % 3 == 0 else greedy for i in range(24)]
                told.append([out.token_ids for out in llm.generate(prompts, params)])
                llm.check_invariants()
        assert sum(a != b for a, b in zip(*told, strict=True)) <= 2, "more than two: no ties any more"
