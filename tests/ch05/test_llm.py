"""The offline interface: what it accepts, what it refuses, what it delivers."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys

import pytest
import torch

import minisgl_lite
from minisgl_lite import LLM, EngineConfig, SamplingParams
from minisgl_lite.assembly import default_pages
from minisgl_lite.choices import CHOICES
from minisgl_lite.core import InvariantError
from minisgl_lite.kvcache.pages import OutOfPages
from minisgl_lite.kvcache.pool import KVPool
from tests.helpers.scripts import scripted_llm

COUNT = {i: i + 1 for i in range(31)}


def greedy(n: int = 4, **changed) -> SamplingParams:
    return SamplingParams(max_tokens=n, **changed)


def test_public_names():
    assert set(minisgl_lite.__all__) == {"LLM", "SamplingParams", "Completion", "EngineConfig"}
    assert dir(minisgl_lite) == sorted(minisgl_lite.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = minisgl_lite.nothing


def test_every_option_reaches_the_config(monkeypatch):
    options = {name: p.default for name, p in inspect.signature(LLM).parameters.items() if name != "custom"}
    assert options == {f.name: f.default for f in dataclasses.fields(EngineConfig)}
    other = {"model": "x", "dtype": "float16", "device": "cpu", "page_size": 2, "num_pages": 3, "max_running_req": 4}
    other |= {"max_seq_len": 5, "max_extend_tokens": 6, "cache_type": "naive", "overlap": False, "tp_size": 7}
    other |= {"attention_backend": "torch", "cuda_graph_max_bs": 8, "memory_ratio": 0.5}
    assert other.keys() == options.keys()

    def caught(config, custom):
        raise KeyError(config)

    monkeypatch.setattr("minisgl_lite.llm.assemble", caught)
    with pytest.raises(KeyError) as told:
        LLM(**other)
    assert told.value.args == (EngineConfig(**other),)
    # and each is explained
    assert all(f"\n        {name} " in EngineConfig.__doc__ for name in options)


def test_decisions_run_without_torch():
    code = (
        "import sys; sys.modules['torch'] = sys.modules['numpy'] = None\n"
        "from tests.helpers.schedules import *\n"
        "s = virtual(40); run(s, [(0, request(0, [1, 2], 3))]); print(notation(s))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8")
    assert done.stdout.strip() == "P[A] D[A] D[A]", done.stderr


def test_generate_counts_up():
    with scripted_llm(COUNT) as llm:
        outs = llm.generate([[3, 4], [10]], [greedy(3), greedy(5)])
        assert [o.token_ids for o in outs] == [[5, 6, 7], [11, 12, 13, 14, 15]]
        assert [o.finish_reason for o in outs] == ["length", "length"]
        assert [o.text for o in outs] == ["", ""]
        llm.check_invariants()


def test_results_keep_the_order_of_the_prompts_in_every_call():
    with scripted_llm(COUNT, max_running_req=2) as llm:
        prompts = [[1] * 29 + [2], [5, 6, 7], [9] * 12]
        first = llm.generate(prompts, [greedy(10), greedy(1), greedy(5)])
        assert [o.token_ids[0] for o in first] == [3, 8, 10]
        assert [len(o.token_ids) for o in first] == [10, 1, 5]
        assert [o.token_ids for o in llm.generate([[20], [4]], greedy(2))] == [[21, 22], [5, 6]]
        assert llm.generate([], greedy()) == []


@pytest.mark.parametrize(
    ("last", "most", "tokens", "reason"),
    [
        (5, 10, [6, 7], "stop"),
        (5, 2, [6, 7], "length"),
        (5, 3, [6, 7], "stop"),
        (7, 5, [], "stop"),
        (2, 3, [3, 4, 5], "length"),
    ],
)
def test_the_token_of_a_stop_is_never_shown(last, most, tokens, reason):
    """EOS is 8: later, beyond the limit, in the last step, at once, never reached."""
    with scripted_llm(COUNT, eos_ids=(8,)) as llm:
        (out,) = llm.generate([[1, last]], greedy(most))
        assert (out.token_ids, out.finish_reason) == (tokens, reason)


def test_ignore_eos_and_stop_token_ids():
    with scripted_llm(COUNT, eos_ids=(8, 9)) as llm:
        outs = llm.generate([[6]] * 3, [greedy(4, ignore_eos=True), greedy(4), greedy(4, stop_token_ids=[7])])
        assert [o.token_ids for o in outs] == [[7, 8, 9, 10], [7], []]


def test_temperature_zero_is_argmax_whatever_the_seed():
    with scripted_llm(COUNT) as llm:
        for seed in range(20):
            assert llm.generate([[4]], greedy(3, seed=seed, top_k=5, top_p=0.5))[0].token_ids == [5, 6, 7]


@pytest.mark.parametrize(
    ("prompt", "params", "words"),
    [
        ([], greedy(), "the prompt is empty"),
        ([1, 32], greedy(), r"token id 32 at position 1 is outside the vocabulary 0\.\.31"),
        ([1, -1], greedy(), "token id -1 at position 1"),
        ([1.5], greedy(), "a list of token ids"),
        (7, greedy(), "a list of token ids"),
        ([1] * 65, greedy(), "the prompt has 65 tokens; the context holds 64"),
        ([1], greedy(0), "max_tokens is 0"),
        ([1], greedy(-5), "max_tokens is -5"),
        ("text", greedy(), "no tokenizer"),
    ],
)
def test_refused_at_the_door(prompt, params, words):
    with scripted_llm(COUNT) as llm:
        with pytest.raises(ValueError, match=words):
            llm.submit(prompt, params)
        assert not llm.has_work
        assert llm.generate([[3]], greedy(2))[0].token_ids == [4, 5]


def test_a_prompt_larger_than_the_pool_is_refused_and_the_next_one_runs():
    with scripted_llm(COUNT, page_size=4, num_pages=8, max_seq_len=64) as llm:
        with pytest.raises(ValueError, match="the prompt has 40 tokens; the KV pool holds 32"):
            llm.submit([1] * 40, greedy())
        assert llm.generate([[1, 2, 3, 4]], greedy(4))[0].token_ids == [5, 6, 7, 8]


def test_max_tokens_is_cut_to_the_room_there_is():
    with scripted_llm({}, page_size=4, num_pages=8) as llm:
        (out,) = llm.generate([[1] * 20], greedy(20))
        assert (len(out.token_ids), out.finish_reason) == (13, "length")
    with scripted_llm({}, max_seq_len=64) as llm:
        params = greedy(1000)
        assert len(llm.generate([[1] * 60], params)[0].token_ids) == 5
        assert len(llm.generate([[1] * 64], params)[0].token_ids) == 1
        assert params.max_tokens == 1000


def test_one_bad_prompt_queues_none():
    with scripted_llm(COUNT) as llm:
        with pytest.raises(ValueError, match="holds 64"):
            llm.generate([[1], [1] * 100, [2]], greedy())
        assert not llm.has_work
        assert [o.token_ids for o in llm.generate([[5]], greedy(2))] == [[6, 7]]


@pytest.mark.parametrize(
    ("prompts", "params", "words"),
    [
        ("text", greedy(), "one string"),
        ([[1], [2]], [greedy()], "2 prompts, but 1 sampling params"),
        ([[1], [2]], [greedy()] * 3, "2 prompts, but 3 sampling params"),
    ],
)
def test_generate_needs_lists(prompts, params, words):
    with scripted_llm(COUNT) as llm, pytest.raises(ValueError, match=words):
        llm.generate(prompts, params)


@pytest.mark.parametrize(
    "params", [SamplingParams(temperature=0.5), SamplingParams(stop=("x",)), SamplingParams(logprobs=1)]
)
def test_sampling_comes_later(params):
    from minisgl_lite.engine.choose import Greedy

    with pytest.raises(NotImplementedError, match="chapter 10"):
        Greedy().check(params)


def test_uids():
    with scripted_llm(COUNT) as llm:
        assert llm.submit([1], greedy(6), uid=7) == 7
        for _ in range(3):
            llm.step()
        with pytest.raises(ValueError, match="uid 7 is in use"):
            llm.submit([2], greedy(), uid=7)
        with pytest.raises(ValueError, match="uid is 'x'"):
            llm.submit([2], greedy(), uid="x")
        assert llm.submit([2], greedy()) == 8
        tokens = [token for _ in range(20) if llm.has_work for uid, token, _ in llm.step() if uid == 7]
        assert tokens == [5, 6, 7]
        assert llm.submit([1], greedy(1), uid=7) == 7


def test_a_uid_is_in_use_while_its_last_event_waits_for_a_step():
    with scripted_llm(COUNT) as llm:
        llm.submit([1], greedy(1), uid=7)
        llm.generate([[5]], greedy(3))
        with pytest.raises(ValueError, match="uid 7 is in use"):
            llm.submit([2], greedy(), uid=7)
        assert llm.step() == [(7, 2, "length")]
        assert llm.submit([2], greedy(1), uid=7) == 7


def test_abort_is_delivered_once_and_unknown_ones_are_ignored():
    with scripted_llm(COUNT) as llm:
        a, b = llm.submit([1], greedy(9)), llm.submit([2], greedy(2))
        llm.step()
        llm.abort(a)
        llm.abort(a)
        llm.abort(12345)
        events = []
        while llm.has_work:
            events += llm.step()
            llm.check_invariants()
        assert [e for e in events if e[0] == a] == [(a, None, "abort")]
        assert [e[2] for e in events if e[0] == b] == ["length"]
        llm.abort(b)
        assert not llm.has_work
        assert llm.step() == []


def test_generate_keeps_the_events_of_others_for_their_step():
    with scripted_llm(COUNT) as llm:
        other = llm.submit([1], greedy(2))
        assert llm.generate([[5]], greedy(6))[0].token_ids == [6, 7, 8, 9, 10, 11]
        assert llm.has_work
        assert llm.step() == [(other, 2, None), (other, 3, "length")]
        assert not llm.has_work


def test_generate_that_fails_takes_its_requests_with_it():
    with scripted_llm(COUNT, num_pages=4, max_seq_len=16, custom=prompt_pages_only()) as llm:
        with pytest.raises(OutOfPages, match="cannot store position"):
            llm.generate([[1, 2], [3, 4]], greedy(3))
        llm.check_invariants()
        assert not llm.has_work
        assert llm.generate([[1]], greedy(2))[0].token_ids == [2, 3]


def prompt_pages_only():
    from minisgl_lite.assembly import Custom
    from minisgl_lite.scheduler.prefill import PrefillAdder

    return Custom(adder=PrefillAdder)


def test_an_interrupt_leaves_a_usable_engine():
    with scripted_llm(COUNT) as llm:
        engine, calls = llm._parts.engine, []
        forward = engine.forward_batch

        def interrupted(batch):
            calls.append(batch)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return forward(batch)

        engine.forward_batch = interrupted
        with pytest.raises(KeyboardInterrupt):
            llm.generate([[1], [2]], greedy(8))
        llm.check_invariants()
        assert not llm.has_work
        assert llm.generate([[1]], greedy(2))[0].token_ids == [2, 3]


def test_a_stuck_engine_says_so_instead_of_hanging():
    with scripted_llm(COUNT) as llm:
        llm._scheduler.policy.choose = lambda prefill, decode: None
        with pytest.raises(InvariantError, match="no round can be made"):
            llm.generate([[1]], greedy())


def test_close():
    llm = scripted_llm(COUNT)
    llm.submit([1], greedy())
    llm.close()
    llm.close()
    assert not llm.has_work
    assert not llm._scheduler.live
    for call in (lambda: llm.submit([1]), llm.step, lambda: llm.generate([[1]])):
        with pytest.raises(RuntimeError, match="closed"):
            call()


def test_decode_is_in_uid_order():
    with scripted_llm({}) as llm:
        for uid in (30, 20, 10):
            llm.submit([1], greedy(6), uid=uid)
            llm.step()
        while llm.has_work:
            llm.step()
        orders = [[e[0] for e in r.entries] for r in llm.trace if r.phase == "decode"]
        assert orders[0] == [10, 20, 30]
        assert all(order == sorted(order) for order in orders)


def test_check_invariants_reads_the_page_table():
    with scripted_llm({}) as llm:
        llm.submit([1, 2, 3], greedy())
        llm.step()
        llm._parts.engine.tables.page_table[0, 1] += 1
        with pytest.raises(InvariantError, match="request 0: the page table has"):
            llm.check_invariants()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"page_size": 0}, "page_size is 0"),
        ({"page_size": 1.0}, "page_size is 1.0"),
        ({"num_pages": -1}, "num_pages is -1"),
        ({"max_running_req": 0}, "max_running_req is 0"),
        ({"max_extend_tokens": 0}, "max_extend_tokens is 0"),
        ({"tp_size": 0}, "tp_size is 0"),
        ({"memory_ratio": 0.0}, "memory_ratio is 0.0"),
        ({"cache_type": "lru"}, "cache_type is 'lru'"),
        ({"attention_backend": "flash"}, "attention_backend is 'flash'"),
        ({"overlap": 3}, "overlap is 3"),
        ({"cuda_graph_max_bs": -1}, "cuda_graph_max_bs is -1"),
    ],
)
def test_contradictory_options(options, words):
    with pytest.raises(ValueError, match=words):
        EngineConfig(**options)


def test_a_context_beyond_the_model_is_refused():
    checkpoint = scripted_llm({})._parts.checkpoint
    with pytest.raises(ValueError, match="max_seq_len is 65; the model's positions end at 64"):
        LLM(checkpoint, max_seq_len=65)


def test_absent_chapters_are_named(monkeypatch):
    """Whatever later chapters bring: hide them, and each option names the chapter it comes with."""
    from minisgl_lite import choices

    monkeypatch.setattr(choices.Choice, "here", property(lambda self: self.chapter <= "05"))
    checkpoint = scripted_llm({})._parts.checkpoint
    options = [("cache_type", "radix", "08"), ("overlap", True, "09"), ("attention_backend", "flashinfer", "11")]
    options += [("attention_backend", "triton", "17"), ("cuda_graph_max_bs", 8, "12"), ("tp_size", 2, "13")]
    for name, value, chapter in options:
        with pytest.raises(NotImplementedError, match=f"{name}.*chapter {chapter}"):
            LLM(checkpoint, **{name: value})
    with LLM(checkpoint, num_pages=64) as llm, pytest.raises(NotImplementedError, match="chapter 10"):
        llm.stream([1])


def test_neutral_values_always_work():
    checkpoint = scripted_llm(COUNT)._parts.checkpoint
    options = {"cache_type": "naive", "overlap": False, "attention_backend": "torch"}
    options |= {"tp_size": 1, "cuda_graph_max_bs": 0}
    with LLM(checkpoint, **options) as llm:
        assert llm.generate([[1]], greedy(2))[0].token_ids == [2, 3]


@pytest.mark.parametrize("choice", [c for rows in CHOICES.values() for c in rows.values() if c.here])
def test_every_choice_that_is_here_loads(choice):
    for name in ("flashinfer", "triton") if choice.chapter in ("11", "12") else ():
        pytest.importorskip(name)
    assert callable(choice.load())


def test_the_default_pool_holds_at_least_one_context():
    checkpoint = scripted_llm({})._parts.checkpoint
    with LLM(checkpoint, page_size=16, max_running_req=3) as llm:
        assert llm._parts.engine.pool.k.shape[1] == 3 * 64
        assert llm._parts.engine.pool.k.dtype == torch.float32


def test_the_default_pool_takes_a_gibibyte_of_a_cpu_at_most_but_holds_one_context():
    checkpoint = scripted_llm({})._parts.checkpoint
    model = checkpoint.local
    token = KVPool.bytes_per_token(model.num_layers, model.num_kv_heads, model.head_dim, checkpoint.dtype)
    most = 2**30 // token
    for size in (1, 16):
        config = EngineConfig(page_size=size)
        assert default_pages(config, checkpoint, most // 4) == 2**30 // (token * size)
        assert default_pages(config, checkpoint, 3 * most) == -(-3 * most // size)


def test_generate_counts_its_tokens(monkeypatch):
    """The bar's end is the most that may come; what comes is added round by round, others' tokens are not."""
    told = []

    class Bar:
        disable = False

        def __init__(self, total, **options):
            assert options["disable"] is None, "shown on a terminal only"
            told.append(total)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            told.append("closed")

        def update(self, count):
            told.append(count)

    monkeypatch.setattr("minisgl_lite.driver.tqdm", Bar)
    with scripted_llm(COUNT) as llm:
        llm.submit([5], greedy(20))
        outs = llm.generate([[1], [1, 2], [3]], [greedy(2), greedy(5), greedy(1)])
    assert (told[0], told[-1]) == (8, "closed")
    assert sum(told[1:-1]) == sum(len(out.token_ids) for out in outs) == 8


def test_trace_outlives_generate():
    with scripted_llm(COUNT) as llm:
        llm.generate([[1]], greedy(2))
        llm.generate([[1]], greedy(3))
        assert [r.index for r in llm.trace] == list(range(5))
        assert [[uid for uid, _, _ in r.entries] for r in llm.trace] == [[0]] * 2 + [[1]] * 3


def test_what_ends_without_a_round_is_not_kept_for_ever():
    with scripted_llm(COUNT) as llm:
        for _ in range(10_050):
            llm.abort(llm.submit([1]))
            llm.step()
        assert len(llm._scheduler._ended) == 10_000


def test_work_does_not_grow_with_those_that_wait_or_have_ended():
    """Many uids that are in use, and many that are not told of: whether one is free is looked up, not searched for."""
    n = 3000
    with scripted_llm(COUNT, max_running_req=8) as llm:
        Counting.made = 0
        for uid in range(n):
            llm.submit([1], greedy(1), uid=uid)
        for uid in range(n):
            llm.abort(uid)
        llm._scheduler._notes = Counting(llm._scheduler._notes)
        for uid in range(n, 2 * n):
            llm.submit([1], greedy(1), uid=uid)
        assert Counting.made == 0


class Counting(list):
    """Counts how often it is walked through."""

    made = 0

    def __iter__(self):
        Counting.made += 1
        return super().__iter__()
