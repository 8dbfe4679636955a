"""Ranks that are processes, over gloo: Hugging Face's tokens, and everything an LLM can do."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from minisgl_lite import LLM, SamplingParams
from minisgl_lite.assembly import Custom
from minisgl_lite.models.config import ModelConfig
from minisgl_lite.parallel.agree import AgreeingScheduler
from minisgl_lite.parallel.team import CHECK
from minisgl_lite.scheduler.interleave import Interleave
from tests.helpers.checkpoints import TIE_GAP, add_tokenizer, hf_greedy, make_checkpoint, random_prompts

NEW = 12
OPTIONS = {"device": "cpu", "page_size": 4, "num_pages": 128, "max_running_req": 4, "max_extend_tokens": 16}
BIASED = {"attention_bias": True, "mlp_bias": True}


def interleave():
    return Interleave(2)


def answers(model, prompts):
    """HF's ids; None for a tie."""
    found = [hf_greedy(model, prompt, NEW) for prompt in prompts]
    assert sum(gap < TIE_GAP for _, gap in found) <= 2, "too many ties: choose another seed"
    return [ids if gap >= TIE_GAP else None for ids, gap in found]


def require_equal(llm, prompts, wanted):
    outs = llm.generate(prompts, SamplingParams(max_tokens=NEW))
    for i, (out, want) in enumerate(zip(outs, wanted, strict=True)):
        assert want is None or out.token_ids == want, f"prompt {i}"
        assert want is None or out.finish_reason == ("length" if len(want) == NEW else "stop")
    llm.check_invariants()


@pytest.mark.parametrize(
    ("kind", "options"), [("llama", BIASED), ("qwen2", {}), pytest.param("qwen3", {}, marks=pytest.mark.slow)]
)
def test_ten_prompts_on_two_ranks_equal_hf(tmp_path, monkeypatch, kind, options):
    """Biases, a tied table, a vocabulary that does not divide; the ranks' batches are compared on the way."""
    monkeypatch.setenv(CHECK, "1")
    model = make_checkpoint(tmp_path, kind, vocab_size=129, **options)
    prompts = [*random_prompts(9, 1, 30, seed=6), [64, 65, 128, 5]]
    wanted = answers(model, prompts)
    with LLM(tmp_path, tp_size=2, **OPTIONS) as llm:
        assert isinstance(llm._scheduler._scheduler, AgreeingScheduler)
        require_equal(llm, prompts, wanted)
        require_equal(llm, prompts, wanted)  # from the prefix cache


@pytest.mark.slow
def test_four_ranks_keep_two_kv_heads(tmp_path, monkeypatch):
    monkeypatch.setenv(CHECK, "1")
    model = make_checkpoint(tmp_path, "qwen3", vocab_size=129)
    prompts = random_prompts(10, 1, 30, seed=7)
    with LLM(tmp_path, tp_size=4, **OPTIONS) as llm:
        assert llm._parts.engine.pool.k.shape[2] == 1
        require_equal(llm, prompts, answers(model, prompts))


@pytest.mark.slow
def test_the_bundled_model_on_four_ranks():
    prompts = ["Once upon a time", "def add(a, b):", "The cat"]
    with LLM("tiny", device="cpu") as llm:
        wanted = [out.token_ids for out in llm.generate(prompts, SamplingParams(max_tokens=24))]
    with LLM("tiny", device="cpu", tp_size=4) as llm:
        assert [out.token_ids for out in llm.generate(prompts, SamplingParams(max_tokens=24))] == wanted


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A Qwen3 with text on two ranks, plainly scheduled, and the same on one; both with a policy of somebody's own."""
    folder = tmp_path_factory.mktemp("qwen3")
    make_checkpoint(folder, "qwen3", vocab_size=129)
    add_tokenizer(folder)
    custom = Custom(policy=interleave)
    with LLM(folder, tp_size=2, custom=custom, **OPTIONS) as llm, LLM(folder, custom=custom, **OPTIONS) as whole:
        yield llm, whole


def test_samples_without_a_seed_are_the_same_on_both_ranks(two, monkeypatch):
    """Rank 1 reads tokens that it was sent: else its K/V would belong to other tokens, and the logits to nobody."""
    llm, _ = two
    params = SamplingParams(temperature=1.0, max_tokens=30, ignore_eos=True, logprobs=0)
    outs = llm.generate(random_prompts(3, 2, 9, seed=3), params)
    for prompt, out in zip(random_prompts(3, 2, 9, seed=3), outs, strict=True):
        # what the model says of each of these tokens, given those before them, does not depend on how it is split
        told = [probabilities[token] for probabilities, token in zip(out.logprobs, out.token_ids, strict=True)]
        assert told == pytest.approx(score(two[1], prompt, out.token_ids), abs=1e-3)


def score(whole, prompt, tokens):
    """Log-probability of each token, computed by the model on one rank, in one pass."""
    import torch

    from tests.helpers.ranks import logits_of

    logits = logits_of(whole._parts.checkpoint.decoder, [*prompt, *tokens])
    table = torch.log_softmax(logits[len(prompt) - 1 : -1], -1)
    return table.gather(-1, torch.tensor(tokens)[:, None])[:, 0].tolist()


def test_seeded_samples_and_stop_strings_are_those_of_one_rank(two):
    prompts = ["t5 t9 t77", "t30 t31", "t30 t31"]
    params = [
        SamplingParams(temperature=0.8, top_p=0.9, seed=4, max_tokens=20, ignore_eos=True),
        SamplingParams(max_tokens=20, ignore_eos=True, stop=("t2",)),
        SamplingParams(max_tokens=9),
    ]
    before = [len(llm.trace) for llm in two]
    ours, theirs = (llm.generate(prompts, params) for llm in two)
    assert ours == theirs
    assert ours[1].finish_reason == "stop"
    assert len(ours[1].token_ids) < 5, "its text ended it, while the others went on: every rank must be told"
    assert [*two[0].stream("t30 t31", params[1])] == [*two[1].stream("t30 t31", params[1])]
    rounds = [[(r.starts, r.lens) for r in llm.trace[n:]] for llm, n in zip(two, before, strict=True)]
    assert rounds[0] == rounds[1]
    two[0].check_invariants()


def test_request_by_request_with_aborts(two):
    def told(llm):
        events = []
        uids = [llm.submit([5 + i, 9], SamplingParams(max_tokens=8, ignore_eos=True)) for i in range(6)]
        for step in range(4):
            events += llm.step()
            llm.abort(uids[step])
        llm.abort(10_000)
        while llm.has_work:
            events += llm.step()
        for _ in range(3):  # idle
            assert llm.step() == []
        llm.check_invariants()
        return [(uid - uids[0], token, reason) for uid, token, reason in events]

    assert told(two[0]) == told(two[1])


def test_a_refused_prompt_changes_nothing(two):
    llm, _ = two
    with pytest.raises(ValueError, match="outside the vocabulary"):
        llm.generate([[1], [129]])
    assert not llm.has_work
    assert len(llm.generate([[7]], SamplingParams(max_tokens=3, ignore_eos=True))[0].token_ids) == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tp_size": 3}, "tp_size is 3; it must divide the model's 4 query heads"),
        ({"tp_size": 8}, "tp_size is 8; it must divide the model's 4 query heads"),
        ({"device": "cuda:1"}, "torch finds no CUDA device"),
        ({"custom": Custom(policy=lambda: Interleave(2))}, "custom must reach the other ranks"),
        ({"max_seq_len": 10_000}, "max_seq_len is 10000; the model's positions end at 256"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_starts(two, monkeypatch, options, words):
    import torch

    if torch.cuda.is_available() and "device" in options:
        pytest.skip("there is a CUDA device")
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    folder = two[1]._parts.config.model
    with pytest.raises(ValueError, match=words):
        LLM(folder, **{"tp_size": 2, "device": "cpu", **options})


def test_a_loaded_checkpoint_cannot_be_split(two):
    with pytest.raises(ValueError, match="a loaded checkpoint cannot be split"):
        LLM(two[1]._parts.checkpoint, tp_size=2)


def test_more_ranks_than_gpus(two, monkeypatch):
    import torch

    from minisgl_lite.parallel import group, torch_comm

    monkeypatch.setattr(group, "as_device", lambda _: torch.device("cuda"))
    monkeypatch.setattr(group, "require_backend", lambda _: None)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(ValueError, match="tp_size asks for 2 GPUs on this machine, which has 1"):
        LLM(two[1]._parts.config.model, tp_size=2)
    monkeypatch.undo()
    monkeypatch.setattr(torch_comm.dist, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match=r"needs torch\.distributed with gloo; this torch was built without it"):
        LLM(two[1]._parts.config.model, tp_size=2, device="cpu")


def test_the_config_is_the_whole_models(two):
    config = two[0]._parts.checkpoint.config
    assert isinstance(config, ModelConfig)
    assert (config.vocab_size, config.num_heads) == (129, 4)


def test_importing_the_package_imports_no_distributed_code():
    code = "import sys, minisgl_lite.llm, minisgl_lite.assembly as a; print('minisgl_lite.parallel' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, timeout=120)
    assert done.stdout.strip() == "False", done.stderr
