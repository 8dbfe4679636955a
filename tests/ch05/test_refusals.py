"""What cannot be served is refused in one line that names the value and the limit, with nothing queued."""

from __future__ import annotations

from dataclasses import fields

import pytest
import torch

from minisgl_lite import LLM, EngineConfig, SamplingParams
from minisgl_lite.assembly import assemble_scheduler
from minisgl_lite.custom import Custom
from minisgl_lite.scheduler.phase import PrefillFirst
from minisgl_lite.scheduler.prefill import PrefillAdder, PrefillManager
from tests.helpers.scripts import scripted_llm

COUNT = {i: i + 1 for i in range(31)}


class Four:
    """An integer of another library."""

    def __index__(self) -> int:
        return 4


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"top_k": None}, "top_k is None; it must be -1 "),
        ({"top_k": "5"}, "top_k is '5'; it must be -1 "),
        ({"top_k": True}, "top_k is True; it must be -1 "),
        ({"max_tokens": None}, "max_tokens is None; it must be an integer"),
        ({"stop_token_ids": 5}, "stop_token_ids is 5; it must be a list of integers"),
        ({"stop_token_ids": None}, "stop_token_ids is None; it must be a list"),
        ({"stop_token_ids": "12"}, "stop_token_ids is '12'; it must be a list"),
        ({"stop_token_ids": [[1]]}, r"stop_token_ids is \(\[1\],\); it must be a list"),
        ({"stop_token_ids": ["a"]}, r"stop_token_ids is \('a',\); it must be a list"),
        ({"stop_token_ids": [1.5]}, r"stop_token_ids is \(1.5,\); it must be a list"),
        ({"ignore_eos": "no"}, "ignore_eos is 'no'; it must be True or False"),
        ({"ignore_eos": torch.ones(2)}, "ignore_eos is tensor.*; it must be True or False"),
        ({"temperature": -(10**5000)}, "temperature is <int that cannot be shown>; it must be a number of at least 0"),
    ],
)
def test_parameters(changed, words):
    with scripted_llm(COUNT) as llm:
        with pytest.raises(ValueError, match=words) as caught:
            llm.generate([[1], [2]], [SamplingParams(), SamplingParams(**changed)])
        assert "\n" not in str(caught.value)
        assert not llm.has_work


@pytest.mark.parametrize(
    ("prompts", "params", "words"),
    [
        (None, None, "prompts is None; it must be a list"),
        (5, None, "prompts is 5; it must be a list"),
        ({"a": 1}, None, "prompts is {'a': 1}; it must be a list"),
        ([5], None, "a list of token ids, not 5"),
        ([b"A"], None, "a list of token ids, not b'A'"),
        ([{65}], None, r"a list of token ids, not \{65\}"),
        ([{65: 1}], None, "a list of token ids, not {65: 1}"),
        ([[10**5000]], None, "token id <int that cannot be shown> at position 0"),
        ([[1]], {"max_tokens": 3}, "params is {'max_tokens': 3}; it must be SamplingParams"),
        ([[1]], 5, "params is 5; it must be SamplingParams"),
        ([[1]], "x", "params is 'x'; it must be SamplingParams"),
        ([[1]], [5], "params is 5; it must be SamplingParams"),
    ],
)
def test_prompts(prompts, params, words):
    with scripted_llm(COUNT) as llm:
        with pytest.raises(ValueError, match=words):
            llm.generate(prompts, params)
        assert not llm.has_work


@pytest.mark.parametrize("uid", [[], {}, None, "x", 1.0, True])
def test_uids(uid):
    with scripted_llm(COUNT) as llm:
        with pytest.raises(ValueError, match=r"uid is .*; it must be an integer"):
            llm.abort(uid)
        if uid is not None:
            with pytest.raises(ValueError, match=r"uid is .*; it must be an integer"):
                llm.submit([1], uid=uid)
        assert not llm.has_work


def test_integers_of_other_libraries_and_anything_in_order_are_accepted():
    params = SamplingParams(max_tokens=Four(), stop_token_ids=(n for n in [Four(), 9]), seed=Four())
    assert params == SamplingParams(max_tokens=4, stop_token_ids=(4, 9), seed=4)
    assert EngineConfig(page_size=Four(), max_running_req=Four()).page_size == 4
    with scripted_llm(COUNT, page_size=Four()) as llm:
        outs = llm.generate(([n] for n in (1, 11)), (p for p in [params, SamplingParams(max_tokens=2)]))
        assert [out.token_ids for out in outs] == [[2, 3], [12, 13]]
        assert llm.submit([1], uid=Four()) == 4
        assert llm.generate(torch.tensor([[5], [6]]), SamplingParams(max_tokens=1))[1].token_ids == [7]


def test_half_a_character():
    half = r"half a character, '\\ud800' at position 1"
    with LLM("tiny", num_pages=64) as llm, pytest.raises(ValueError, match=half):
        llm.generate(["a\ud800"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"memory_ratio": "a"}, "memory_ratio is 'a'"),
        ({"memory_ratio": None}, "memory_ratio is None"),
        ({"cuda_graph_max_bs": "x"}, "cuda_graph_max_bs is 'x'"),
        ({"cuda_graph_max_bs": 1.5}, "cuda_graph_max_bs is 1.5"),
        ({"overlap": torch.ones(2)}, "overlap is tensor"),
        ({"cache_type": ["naive"]}, r"cache_type is \['naive'\]"),
    ],
)
def test_options(options, words):
    with pytest.raises(ValueError, match=words):
        EngineConfig(**options)


@pytest.mark.parametrize("model", [None, 5, b"tiny", ["tiny"]])
@pytest.mark.parametrize("ranks", [{}, {"tp_size": 2}])
def test_what_is_no_model(model, ranks):
    with pytest.raises(
        (ValueError, NotImplementedError), match=r"^model is .*; it must be a name, a folder|chapter 13"
    ):
        LLM(model, **ranks)


@pytest.mark.parametrize("custom", ["x", {"policy": PrefillFirst}, Custom])
def test_what_is_no_custom_is_refused_before_anything_is_loaded(custom):
    with pytest.raises(ValueError, match=r"^custom is .*; it must be a Custom or None$"):
        LLM("no such folder", custom=custom)
    with pytest.raises(ValueError, match=r"^custom is "):
        assemble_scheduler(EngineConfig(), 8, lambda scheduler: None, custom)


@pytest.mark.parametrize("name", [field.name for field in fields(Custom)])
@pytest.mark.parametrize("part", [3, "radix", PrefillFirst()])
def test_a_part_that_cannot_be_called(name, part):
    with pytest.raises(ValueError, match=rf"^Custom\({name}\) is .*; it must be a class or function to call, or None$"):
        Custom(**{name: part})


def test_a_queue_without_an_adder():
    """The default adder may cut prompts up, which not every queue survives."""
    with pytest.raises(ValueError, match=r"^Custom\(queue\) is .*PrefillManager.*; it needs an adder as well"):
        Custom(queue=PrefillManager)
    Custom(adder=PrefillAdder, queue=PrefillManager)
    Custom(adder=PrefillAdder)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dtype": "bfloat16"}, "dtype is bfloat16; the loaded checkpoint is torch.float32"),
        ({"device": "cpu:1"}, "device is cpu:1; the loaded checkpoint is on cpu"),
        ({"device": "meta"}, "device is 'meta'; it must be cpu or cuda"),
        ({"device": object()}, "torch does not know it"),
        ({"num_pages": 10**15}, r"num_pages is 1000000000000000; the KV pool would take \S+e\+\d+ bytes, which cannot"),
        ({"num_pages": 2**64}, r"num_pages is 18446744073709551616; the KV pool would take \S+ bytes"),
        ({"max_running_req": 10**15}, r"max_running_req is 1000000000000000; their tables would take \S+ bytes"),
    ],
)
def test_options_and_the_checkpoint(options, words):
    checkpoint = scripted_llm({})._parts.checkpoint
    with pytest.raises(ValueError, match=words):
        LLM(checkpoint, **{"num_pages": 64, **options})
    with LLM(checkpoint, num_pages=64, dtype="float32", device="cpu") as llm:
        assert len(llm.generate([[1]])) == 1
