"""Sampling through the whole engine: mixed batches, seeds, rows that are not numbers, log-probabilities."""

from __future__ import annotations

import math

import pytest
import torch

from minisgl_lite import LLM, SamplingParams
from minisgl_lite.core import NO_TOKEN, Batch, Req
from minisgl_lite.engine.sampler import MAX_LOGPROBS, Sampler
from minisgl_lite.models.checkpoint import Checkpoint
from minisgl_lite.models.scripted import scripted_config
from tests.helpers.checkpoints import make_checkpoint, random_prompts
from tests.helpers.texts import SpoilingDecoder, logits_llm

NAN = float("nan")


def batch_of(*params: SamplingParams) -> Batch:
    """A prefill batch of one-token prompts, one a row."""
    batch = Batch("prefill", index=1)
    for uid, each in enumerate(params):
        req = Req(uid, [5], each)
        req.table_idx = uid
        batch.add(req, 1)
    return batch


def choose(logits: torch.Tensor, *params: SamplingParams, entropy: int = 3) -> list[int]:
    sampler, batch = Sampler(entropy), batch_of(*params)
    return sampler.read(batch, sampler(logits, batch))


def hot(**changed) -> SamplingParams:
    return SamplingParams(**{"temperature": 1.0, **changed})


# ---- one call --------------------------------------------------------------------------------------------------------


def test_three_rows_each_by_its_own_parameters():
    """top_k off, 1 and 3; 200 draws each, in one batch."""
    logits = torch.randn(1, 12, generator=torch.Generator().manual_seed(1)).expand(600, -1)
    best = logits[0].topk(3).indices.tolist()
    tokens = choose(logits, *[hot(top_k=k) for k in (-1, 1, 3)] * 200)
    assert set(tokens[1::3]) == {best[0]}
    assert set(tokens[2::3]) == set(best)
    assert not set(tokens[0::3]) <= set(best)


def test_greedy_rows_are_argmax_in_a_mixed_batch():
    logits = torch.randn(64, 50, generator=torch.Generator().manual_seed(2))
    mixed = [SamplingParams(top_k=3, seed=i) if i % 2 else hot(top_p=0.5 + i / 128, top_k=1 + i) for i in range(64)]
    tokens = choose(logits, *mixed)
    assert tokens[1::2] == logits.argmax(-1).tolist()[1::2]
    assert choose(logits, *[SamplingParams(seed=i) for i in range(64)]) == logits.argmax(-1).tolist()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("temperature", [1e-4, 1e-8])
def test_very_low_temperatures_are_argmax(temperature, dtype):
    logits = torch.tensor([[-50.0, 50.0, 49.5], [50.0, -50.0, 0.0]], dtype=dtype)
    for params in (hot(temperature=temperature), hot(temperature=temperature, top_p=0.9, top_k=2)):
        assert choose(logits, params, params) == [1, 0]


@pytest.mark.parametrize("bad", [[NAN] * 4, [0.0, NAN, 0.0, 0.0], [float("-inf")] * 4, [0.0, float("inf"), 0.0, 0.0]])
@pytest.mark.parametrize("params", [SamplingParams(), hot(), hot(top_p=0.9), hot(logprobs=2)])
def test_a_row_of_no_numbers_has_no_token_and_the_others_have_theirs(bad, params):
    logits = torch.tensor([[0.0, 9.0, 0.0, 0.0], bad, [9.0, 0.0, float("-inf"), 0.0]])
    assert choose(logits, SamplingParams(), params, hot(temperature=0.01)) == [1, NO_TOKEN, 0]


def test_a_seed_decides_and_without_one_runs_differ():
    logits = torch.zeros(1, 1000)
    assert choose(logits, hot(seed=7), entropy=1) == choose(logits, hot(seed=7), entropy=2)
    assert choose(logits, hot(seed=7 + (1 << 64))) == choose(logits, hot(seed=7))
    assert len({choose(logits, hot(seed=i))[0] for i in range(20)}) > 15
    assert len({choose(logits, hot(), entropy=i)[0] for i in range(20)}) > 15
    assert len(set(choose(logits.expand(20, -1), *[hot()] * 20))) > 15
    assert Sampler().entropy != Sampler().entropy


def test_a_seeds_number_belongs_to_the_position_whatever_the_entry():
    """In front of the request: nobody, or the first piece of somebody's prompt, which samples nothing."""

    def token(pieces: int) -> int:
        batch = Batch("prefill", index=1)
        for uid in range(pieces):
            req = Req(uid, [5] * (4 + uid), hot())
            req.table_idx = uid
            batch.add(req, 1)
        req = Req(9, [5] * 3, hot(seed=4))
        req.table_idx = 9
        batch.add(req, 3)
        sampler = Sampler(entropy=1)
        return sampler.read(batch, sampler(torch.zeros(1, 1000), batch))[0]

    assert token(0) == token(1) == token(2)


def test_what_is_sampled_after_the_end_is_not_reported():
    batch, sampler = batch_of(*[SamplingParams(logprobs=1)] * 2), Sampler()
    arrived = sampler(torch.randn(2, 5), batch)
    batch.reqs[0].finish_reason = "stop"
    sampler.read(batch, arrived)
    assert [len(req.logprobs) for req in batch.reqs] == [0, 1]


@pytest.mark.parametrize(
    ("params", "words"),
    [
        (hot(temperature=math.inf), "temperature is inf"),
        (hot(temperature=NAN), "temperature is nan"),
        (hot(temperature="1"), "temperature is '1'; it must be a number of at least 0"),
        (hot(temperature=-1.0), "temperature is -1.0; it must be a number of at least 0"),
        (hot(top_k=0), "top_k is 0"),
        (hot(top_k=2.5), "top_k is 2.5"),
        (hot(top_p=0.0), "top_p is 0.0"),
        (hot(top_p=1.5), "top_p is 1.5"),
        (hot(seed=1.5), "seed is 1.5"),
        (hot(logprobs=-1), f"logprobs is -1; it must be an integer from 0 to {MAX_LOGPROBS}"),
        (hot(logprobs=21), "logprobs is 21"),
        (hot(logprobs=True), "logprobs is True"),
        (hot(stop="</s>"), "stop is '</s>'; it must be a sequence"),
        (hot(stop=("a", "")), r"stop is \('a', ''\)"),
        (hot(stop=("a",)), "no tokenizer"),
    ],
)
def test_refused_at_the_door(params, words):
    with logits_llm({1: [0.0] * 4}, 4) as llm:
        with pytest.raises(ValueError, match=words):
            llm.submit([1], params)
        assert not llm.has_work


# ---- the engine ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("llama")
    make_checkpoint(folder, "llama")
    return folder


@pytest.mark.parametrize("options", [{}, {"overlap": False, "cache_type": "naive"}, {"max_extend_tokens": 7}])
def test_a_seeded_request_gives_the_same_alone_and_among_others(model, options):
    prompts = random_prompts(6, 3, 30, seed=2)
    seeded = [
        hot(seed=11, max_tokens=16, ignore_eos=True, **more)
        for more in ({"top_p": 0.9}, {}, {"top_k": 5}, {"temperature": 1.5, "top_k": 20, "top_p": 0.8})
    ]
    others = hot(temperature=0.8, max_tokens=16, ignore_eos=True)
    with LLM(model, dtype="float32", num_pages=512, page_size=4, **options) as llm:
        for params in seeded:
            alone = llm.generate([prompts[0]], params)[0].token_ids
            assert len(set(alone)) > 3
            assert llm.generate(prompts, [params] + [others] * 5)[0].token_ids == alone
            assert llm.generate(prompts[::-1], [others] * 5 + [params])[5].token_ids == alone
        other = llm.generate([prompts[0]], hot(seed=12, max_tokens=16, ignore_eos=True))[0].token_ids
        assert other != llm.generate([prompts[0]], seeded[1])[0].token_ids


def test_greedy_requests_are_not_disturbed_by_hot_ones(model):
    prompts = random_prompts(8, 3, 30, seed=5)
    with LLM(model, dtype="float32", num_pages=512) as llm:
        want = [out.token_ids for out in llm.generate(prompts, SamplingParams(max_tokens=12))]
        params = [SamplingParams(max_tokens=12) if i % 2 else hot(max_tokens=12) for i in range(8)]
        assert [out.token_ids for out in llm.generate(prompts, params)][1::2] == want[1::2]


@pytest.mark.parametrize("overlap", [True, False])
def test_a_request_whose_logits_are_no_numbers_ends_alone(overlap):
    rows = {
        1: [0.0, 9.0, 0.0, 0.0],
        2: [0.0, 0.0, 0.0, 9.0],
    }  # 2 leads to 3, and after 3 there is NaN
    with logits_llm(rows, 4, overlap=overlap) as llm:
        outs = llm.generate([[1], [2], [1, 1]], SamplingParams(max_tokens=5))
        assert [out.finish_reason for out in outs] == ["length", "abort", "length"]
        assert [out.token_ids for out in outs] == [[1] * 5, [3], [1] * 5]
        assert outs[1].error == "the logits after position 1 are not numbers"
        assert outs[0].error == outs[2].error == ""
        llm.check_invariants()
        uid = llm.submit([2], SamplingParams(max_tokens=5))
        events = [event for _ in range(9) if llm.has_work for event in llm.step()]
        assert events == [(uid, 3, None), (uid, None, "abort")]
        assert not llm.has_work
        with pytest.raises(RuntimeError, match="given up: the logits after position 1 are not numbers"):
            list(llm.stream([2], SamplingParams(max_tokens=5)))


@pytest.mark.parametrize("cache_type", ["naive", "radix"])
@pytest.mark.parametrize("overlap", [True, False])
@pytest.mark.parametrize("size", [1, 4])
def test_spoilt_pages_do_not_spoil_their_next_owner(size, overlap, cache_type):
    """A small pool, so that pages return at once; keys and values of a failed request are not numbers either."""
    config = scripted_config(vocab_size=8, max_seq_len=64)
    decoder = SpoilingDecoder({t: [0.0] * t + [9.0] + [0.0] * (7 - t) for t in range(7)}, config)
    options = {"num_pages": 24 // size, "page_size": size, "max_running_req": 2}
    with LLM(Checkpoint(config, decoder, None), overlap=overlap, cache_type=cache_type, **options) as llm:
        for n in (3, 5, 6):
            bad, good = llm.generate([[1] * n + [7], [2] * n], SamplingParams(max_tokens=7))
            assert (bad.token_ids, bad.finish_reason) == ([], "abort")
            assert good.token_ids == [2] * 7
        outs = llm.generate([[t] * 5 for t in range(7)], SamplingParams(max_tokens=5))
        assert [out.token_ids for out in outs] == [[t] * 5 for t in range(7)]
        # aborted before anybody saw what it computed
        for steps in (1, 2, 3):
            uid = llm.submit([7] * 6, SamplingParams(max_tokens=9))
            llm.step()
            llm.abort(uid)
            for _ in range(steps):
                llm.step()
            assert llm.generate([[3] * 5], SamplingParams(max_tokens=6))[0].token_ids == [3] * 6
        llm.check_invariants()


@pytest.mark.parametrize("overlap", [True, False])
@pytest.mark.parametrize("prompt", [[7, *[1] * 9], [1] * 9 + [7], [1] * 4 + [7] * 3, [6]])
def test_what_a_failed_request_computed_is_found_by_nobody(prompt, overlap):
    """Token 7 is no number once; the same prompt comes again when it is. It is computed in pieces of four tokens."""
    config = scripted_config(vocab_size=8, max_seq_len=64)
    rows = {t: [0.0] * t + [9.0] + [0.0] * (7 - t) for t in range(7)} | {6: [0.0] * 7 + [9.0]}
    decoder = SpoilingDecoder(rows, config)
    options = {"num_pages": 40, "cache_type": "radix", "max_extend_tokens": 4, "overlap": overlap}
    with LLM(Checkpoint(config, decoder, None), **options) as llm:
        assert llm.generate([prompt], SamplingParams(max_tokens=4))[0].finish_reason == "abort"
        llm.check_invariants()
        decoder.rows[7] = torch.tensor(rows[2])
        (out,) = llm.generate([prompt], SamplingParams(max_tokens=4))
        assert out.finish_reason == "length", out.error
        llm.check_invariants()


# ---- log-probabilities -----------------------------------------------------------------------------------------------


def test_logprobs_are_the_models_own_for_each_row():
    """Two rows of very different scale; temperature and filters do not show."""
    rows = {0: [100.0, 99.0, 98.0, 0.0], 1: [0.001, 0.002, 0.003, 0.004]}
    exact = {t: torch.log_softmax(torch.tensor(row).double(), -1) for t, row in rows.items()}
    with logits_llm(rows | {2: rows[0], 3: rows[0]}, 4) as llm:
        params = [hot(temperature=0.3, top_k=2, logprobs=n, max_tokens=1) for n in (4, 2, 0)] + [hot(max_tokens=1)]
        outs = llm.generate([[0], [1], [1], [0]], params)
        alone = llm.generate([[1]], SamplingParams(logprobs=4, max_tokens=1))[0].logprobs
    assert [len(out.token_ids) for out in outs] == [1] * 4
    assert outs[3].logprobs is None
    for out, prompt, n in ((outs[0], 0, 4), (outs[1], 1, 2), (outs[2], 1, 0)):
        (told,) = out.logprobs
        best = exact[prompt].topk(max(n, 1)).indices.tolist()[:n]
        assert set(told) == {*best, out.token_ids[0]}
        assert told == pytest.approx({t: float(exact[prompt][t]) for t in told}, abs=1e-5)
    assert sum(map(math.exp, outs[0].logprobs[0].values())) == pytest.approx(1)
    assert alone[0] == pytest.approx(dict(enumerate(exact[1].tolist())), abs=1e-6)


def test_one_dict_a_token_in_every_mode(model):
    prompts = random_prompts(5, 3, 20, seed=9)
    told = []
    for overlap in (True, False):
        with LLM(model, dtype="float32", num_pages=512, max_running_req=3, overlap=overlap) as llm:
            params = [SamplingParams(max_tokens=8, logprobs=n) for n in (3, 0, None, 5, 1)]
            outs = llm.generate(prompts, params)
            for out, p in zip(outs, params, strict=True):
                if p.logprobs is None:
                    assert out.logprobs is None
                    continue
                assert len(out.logprobs) == len(out.token_ids)
                for token, entry in zip(out.token_ids, out.logprobs, strict=True):
                    assert len(entry) == max(1, p.logprobs)  # greedy: the token is the best one
                    assert entry[token] == max(entry.values())
            told.append([[sorted(entry) for entry in out.logprobs or []] for out in outs])
    assert told[0] == told[1]


@pytest.mark.parametrize("overlap", [True, False])
def test_any_top_k_and_any_temperature_that_are_let_in_can_be_drawn(overlap):
    """What passes the door must not end the batch that it is in."""
    huge = [
        {"top_k": 2**63},
        {"top_k": 10**400},
        {"temperature": 10**300},
        {"temperature": 1e308},
        {"seed": -(10**400)},
    ]
    with logits_llm({1: [0.0, 9.0]}, 2, overlap=overlap) as llm:
        outs = llm.generate([[1]] * 6, [SamplingParams(max_tokens=1), *[hot(max_tokens=1, **h) for h in huge]])
        assert [len(out.token_ids) for out in outs] == [1] * 6
        with pytest.raises(ValueError, match=r"temperature is 10+\.\.\.; it must be a finite number"):
            llm.submit([1], hot(temperature=10**400))


@pytest.mark.parametrize("stop", [None, 5, b"a", {"a": 1}, [None]])
def test_stop_strings_are_strings(stop):
    with pytest.raises(ValueError, match=r"stop is .*; it must be a sequence of strings"):
        Sampler().check(SamplingParams(stop=stop))


def test_stop_strings_of_a_generator_are_kept():
    assert SamplingParams(stop=(text for text in "ab")).stop == ("a", "b")
