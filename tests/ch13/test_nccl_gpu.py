"""On two GPUs, and on four where there are so many: NCCL, graphs and overlap."""

from __future__ import annotations

import os
import signal
import time

import pytest
import torch

from minisgl_lite import LLM, SamplingParams
from minisgl_lite.parallel.links import RankError
from tests.helpers.checkpoints import TIE_GAP, hf_greedy, make_checkpoint, random_prompts
from tests.helpers.halves import BOUND, Reference

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(torch.cuda.device_count() < 2, reason="fewer than two CUDA devices")]
FOUR = pytest.mark.skipif(torch.cuda.device_count() < 4, reason="fewer than four CUDA devices")
SIZES = pytest.mark.parametrize("size", [2, pytest.param(4, marks=FOUR)])
OPTIONS = {"device": "cuda", "tp_size": 2, "num_pages": 512, "max_running_req": 9, "page_size": 4}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("qwen3")
    make_checkpoint(path, "qwen3", hidden_size=256, intermediate_size=192, head_dim=64, vocab_size=129)
    return path


@SIZES
@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
def test_all_gpus_equal_hf_in_full_precision(tmp_path, kind, size):
    model = make_checkpoint(tmp_path, kind, vocab_size=129)
    prompts = [*random_prompts(9, 1, 30, seed=6), [64, 65, 128, 5]]
    with LLM(tmp_path, dtype="float32", **OPTIONS | {"tp_size": size}) as llm:
        outs = llm.generate(prompts, SamplingParams(max_tokens=12))
        llm.check_invariants()
    for prompt, out in zip(prompts, outs, strict=True):
        want, gap = hf_greedy(model, prompt, 12)
        assert gap < TIE_GAP or out.token_ids == want


@SIZES
def test_graphs_and_overlap_change_no_token(folder, size):
    """Sums inside graphs; the tokens are Hugging Face's but for ties."""
    prompts, answers = random_prompts(20, 1, 50, seed=6), []
    params = [SamplingParams(max_tokens=5 + i, temperature=0.8 * (i % 3 == 2), seed=i) for i in range(20)]
    for most, overlap in ((0, False), (9, False), (9, True)):
        with LLM(
            folder, dtype="bfloat16", cuda_graph_max_bs=most, overlap=overlap, cache_type="naive",
            attention_backend="flashinfer", **OPTIONS | {"tp_size": size},
        ) as llm:  # fmt: skip
            answers.append([out.token_ids for out in llm.generate(prompts, params)])
            llm.check_invariants()
    assert all(answer == answers[0] for answer in answers)
    reference = Reference(folder)
    for prompt, answer, each in zip(prompts, answers[0], params, strict=True):
        if not each.temperature:
            assert reference.apart(prompt, answer) <= BOUND


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_killed_rank_does_not_leave_rank_0_waiting(folder):
    """A collective whose other half is gone is taken back; the next engine works."""
    for _ in range(2):
        llm = LLM(folder, dtype="bfloat16", **OPTIONS)
        pid = llm._parts.close.__self__._others.processes.pids[0]
        llm.submit([1, 2, 3], SamplingParams(max_tokens=200, ignore_eos=True))
        for _ in range(5):
            llm.step()
        os.kill(pid, signal.SIGKILL)
        begin = time.monotonic()
        with pytest.raises(RankError, match="rank 1 has ended without a word: exit status -9"):
            step_on(llm)
        assert time.monotonic() - begin < 60
        llm.close()


def step_on(llm):
    while True:
        llm.step()


def test_open_and_closed_in_turns(folder):
    """Two engines at a time, and one after the other; memory comes back."""
    with LLM(folder, dtype="bfloat16", **OPTIONS) as one, LLM(folder, dtype="bfloat16", **OPTIONS) as two:
        params = SamplingParams(max_tokens=8, ignore_eos=True)
        answers = [llm.generate([[5, 6, 7]], params)[0].token_ids for llm in (one, two, one)]
    assert answers[0] == answers[1] == answers[2]
