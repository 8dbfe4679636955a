"""Prompts in pieces of any size end in Hugging Face's tokens."""

from __future__ import annotations

from functools import partial

import pytest

from minisgl_lite.assembly import Custom
from minisgl_lite.scheduler.chunked import ChunkedAdder, ChunkedPrefillManager
from minisgl_lite.scheduler.interleave import Interleave
from tests.helpers.checkpoints import random_prompts
from tests.helpers.engines import compare, engine, known_answers

NEW = 10
PROMPTS = [*random_prompts(6, 1, 40, seed=6), *random_prompts(1, 1, 1, seed=2)]


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoint")
    return folder, known_answers(folder, PROMPTS, NEW, "llama")


@pytest.mark.parametrize("policy", [None, Interleave, partial(Interleave, 2)])
@pytest.mark.parametrize(("size", "budget"), [(1, 3), (4, 8), (8, 17), (4, 256)])
def test_pieces(known, size, budget, policy):
    folder, answers = known
    custom = Custom(adder=ChunkedAdder, queue=ChunkedPrefillManager, policy=policy)
    with engine(folder, page_size=size, num_pages=160 // size, max_extend_tokens=budget, custom=custom) as llm:
        compare(llm, PROMPTS, answers, NEW)
        assert all(sum(r.lens) <= budget for r in llm.trace if r.phase == "prefill")
