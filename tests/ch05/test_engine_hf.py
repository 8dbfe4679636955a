"""The engine's tokens against Hugging Face's greedy ones, on random checkpoints that show faults."""

from __future__ import annotations

import pytest
import torch

from minisgl_lite import LLM, SamplingParams
from tests.helpers.checkpoints import TIE_GAP, hf_greedy, make_checkpoint, random_prompts

KINDS = ("llama", "qwen2", "qwen3", "mistral")
NEW = 20


@pytest.fixture(scope="module", params=KINDS)
def known(request, tmp_path_factory):
    """A folder, its model, prompts and what HF makes of them (None: a tie, not compared)."""
    folder = tmp_path_factory.mktemp(request.param)
    model = make_checkpoint(folder, request.param, eos_token_id=[2, 7])
    prompts = random_prompts(12, 1, 40, seed=1)
    answers = [hf_greedy(model, prompt, NEW) for prompt in prompts]
    ties = sum(gap < TIE_GAP for _, gap in answers)
    assert ties <= 2, f"{ties} of 12 prompts are ties: choose another seed"
    return folder, model, prompts, [ids if gap >= TIE_GAP else None for ids, gap in answers]


def engine(folder, **options) -> LLM:
    size = options.get("page_size", 1)
    defaults = {"dtype": torch.float32, "num_pages": 2048 // size, "max_running_req": 5}
    llm = LLM(folder, **{**defaults, "cache_type": "naive", "overlap": False, **options})
    # whatever is read without having been written must show
    llm._parts.engine.pool.k.fill_(1e4)
    llm._parts.engine.pool.v.fill_(1e4)
    return llm


def compare(outs, answers) -> None:
    for i, (out, want) in enumerate(zip(outs, answers, strict=True)):
        if want is not None:
            assert out.token_ids == want, f"prompt {i}"
            assert out.finish_reason == ("length" if len(want) == NEW else "stop"), f"prompt {i}"


@pytest.mark.parametrize("budget", [8192, 30])
@pytest.mark.parametrize("size", [1, 4])
def test_twelve_prompts_five_rows(known, size, budget):
    folder, _, prompts, answers = known
    with engine(folder, page_size=size, max_extend_tokens=budget) as llm:
        compare(llm.generate(prompts, SamplingParams(max_tokens=NEW)), answers)
        llm.check_invariants()
        compare(llm.generate(prompts[::-1], SamplingParams(max_tokens=NEW)), answers[::-1])
        llm.check_invariants()


def test_alone_and_in_company(known):
    folder, _, prompts, answers = known
    with engine(folder, max_running_req=9) as llm:
        for company in (0, 1, 8):
            outs = llm.generate([prompts[0], *prompts[1 : 1 + company]], SamplingParams(max_tokens=NEW))
            compare(outs, answers[: 1 + company])


@pytest.mark.parametrize("prompt", [3, 4, 5])
@pytest.mark.parametrize("new", [1, 2, 5])
def test_around_a_page_boundary(known, prompt, new):
    folder, model, prompts, _ = known
    ids = next(p for p in prompts if len(p) >= 5)[:prompt]
    want, gap = hf_greedy(model, ids, new)
    assert gap >= TIE_GAP
    with engine(folder, page_size=4) as llm:
        assert llm.generate([ids], SamplingParams(max_tokens=new))[0].token_ids == want


def test_prompts_shorter_than_a_page_twice(known):
    folder, model, prompts, _ = known
    longest = max(prompts, key=len)
    some = [longest[:n] for n in range(1, 10)]
    want = [hf_greedy(model, ids, 6) for ids in some]
    with engine(folder, page_size=8) as llm:
        for _ in range(2):
            for out, (ids, gap) in zip(llm.generate(some, SamplingParams(max_tokens=6)), want, strict=True):
                if gap >= TIE_GAP:
                    assert out.token_ids == ids
            llm.check_invariants()


def test_requests_that_come_and_go(known):
    """Submitted between steps, with chosen uids in descending order and an abort on the way."""
    folder, _, prompts, answers = known
    with engine(folder, page_size=4, max_running_req=3) as llm:
        got = {}
        for i, prompt in enumerate(prompts):
            got[llm.submit(prompt, SamplingParams(max_tokens=NEW), uid=100 - i)] = []
            for uid, token, reason in llm.step():
                if token is not None and reason != "stop":
                    got[uid].append(token)
            if i == 6:
                llm.abort(97)
            llm.check_invariants()
        while llm.has_work:
            for uid, token, reason in llm.step():
                if token is not None and reason != "stop":
                    got[uid].append(token)
            llm.check_invariants()
        for i, want in enumerate(answers):
            if want is not None and i != 3:
                assert got[100 - i] == want, f"prompt {i}"


def test_pages_for_text(known, tmp_path):
    """A checkpoint with a tokenizer takes and gives text."""
    from tests.helpers.checkpoints import add_tokenizer

    model = make_checkpoint(tmp_path, "llama")
    add_tokenizer(tmp_path)
    with engine(tmp_path) as llm:
        (out,) = llm.generate(["t5 t9 t40"], SamplingParams(max_tokens=6))
        want, _ = hf_greedy(model, [5, 9, 40], 6)
        assert out.token_ids == want
        assert out.text.split() == [f"t{i}" for i in want if i > 3]


def test_a_sliding_window_no_narrower_than_the_context(tmp_path):
    model = make_checkpoint(tmp_path, "mistral", sliding_window=24)
    prompt = random_prompts(1, 16, 16, seed=3)[0]
    want, gap = hf_greedy(model, prompt, 8)
    assert gap >= TIE_GAP
    with engine(tmp_path, max_seq_len=24) as llm:
        assert llm.generate([prompt], SamplingParams(max_tokens=8))[0].token_ids == want
    with pytest.raises(ValueError, match="sliding_window is 24"):
        engine(tmp_path, max_seq_len=25)
