"""Overlap gives Hugging Face's tokens, with stops in the middle of everything."""

from __future__ import annotations

import itertools

import pytest
import torch

from minisgl_lite import LLM, SamplingParams
from tests.helpers.checkpoints import TIE_GAP, hf_greedy, make_checkpoint, random_prompts
from tests.helpers.scripts import scripted_llm

NEW = 20


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """A checkpoint with three EOS ids, 24 prompts, and HF's ids for them (None: a tie, not compared)."""
    folder = tmp_path_factory.mktemp("qwen3")
    model = make_checkpoint(folder, "qwen3", eos_token_id=[2, 7, 40])
    prompts = random_prompts(24, 1, 40, seed=4)
    answers = [hf_greedy(model, prompt, NEW) for prompt in prompts]
    assert sum(gap < TIE_GAP for _, gap in answers) <= 4, "too many ties: choose another seed"
    assert sum(len(ids) < NEW for ids, _ in answers) >= 4, "too few stops: choose another seed"
    return folder, prompts, [ids if gap >= TIE_GAP else None for ids, gap in answers]


@pytest.mark.parametrize(
    ("overlap", "cache_type", "budget"), list(itertools.product([True, False], ["naive", "radix"], [8192, 7]))
)
def test_twenty_four_prompts_five_slots(known, overlap, cache_type, budget):
    folder, prompts, answers = known
    with LLM(
        folder, dtype=torch.float32, page_size=4, num_pages=128, max_running_req=5,
        overlap=overlap, cache_type=cache_type, max_extend_tokens=budget,
    ) as llm:  # fmt: skip
        llm._parts.engine.pool.k.fill_(float("nan"))
        llm._parts.engine.pool.v.fill_(float("nan"))
        for _ in range(2):
            outs = llm.generate(prompts, SamplingParams(max_tokens=NEW))
            for i, (out, want) in enumerate(zip(outs, answers, strict=True)):
                if want is not None:
                    assert out.token_ids == want, f"prompt {i}"
                    assert out.finish_reason == ("length" if len(want) == NEW else "stop"), f"prompt {i}"
            assert not llm.has_work
            llm.check_invariants()


def test_each_stop_wastes_one_entry_at_most(known):
    folder, prompts, answers = known
    work = {}
    for overlap in (False, True):
        with LLM(folder, dtype=torch.float32, max_running_req=5, cache_type="naive", overlap=overlap) as llm:
            llm.generate(prompts, SamplingParams(max_tokens=NEW))
            work[overlap] = sum(len(r.entries) for r in llm.trace)
    stops = sum(want is None or len(want) < NEW for want in answers)
    assert 0 < work[True] - work[False] <= stops


def test_generate_leaves_nothing_in_flight_and_an_interrupt_a_usable_engine():
    with scripted_llm({i: i + 1 for i in range(31)}, eos_ids=(8,), overlap=True) as llm:
        assert llm.generate([[5]], SamplingParams(max_tokens=9))[0].token_ids == [6, 7]
        assert not llm.has_work
        engine, calls = llm._parts.engine, []
        forward = engine.forward_batch

        def interrupted(batch):
            calls.append(batch)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return forward(batch)

        engine.forward_batch = interrupted
        with pytest.raises(KeyboardInterrupt):
            llm.generate([[1], [2]], SamplingParams(max_tokens=8, ignore_eos=True))
        llm.check_invariants()
        assert llm.generate([[1]], SamplingParams(max_tokens=2))[0].token_ids == [2, 3]
        assert not llm.has_work


def test_the_engine_is_idle_after_the_step_behind_the_last_event():
    with scripted_llm({i: i + 1 for i in range(31)}, eos_ids=(8,), overlap=True) as llm:
        llm.submit([5], SamplingParams(max_tokens=9))
        told = []
        while llm.has_work:
            told.append(llm.step())
            llm.check_invariants()
        assert told == [[], [(0, 6, None)], [(0, 7, None)], [(0, 8, "stop")], []]
        assert llm._scheduler.cache.allocator.free == 256
