"""Pools that hold two requests and a bit: everybody's answer is Hugging Face's, and nobody dies."""

from __future__ import annotations

import pytest

from minisgl_lite.assembly import Custom
from minisgl_lite.scheduler.admission import AdmittingAdder
from tests.helpers.checkpoints import random_prompts
from tests.helpers.engines import compare, engine, known_answers

NEW = 12
PROMPTS = random_prompts(10, 1, 30, seed=4)


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoint")
    return folder, known_answers(folder, PROMPTS, NEW)


@pytest.mark.parametrize(("size", "pages"), [(1, 90), (4, 23), (16, 7)])
def test_a_small_pool(known, size, pages):
    folder, answers = known
    with engine(folder, page_size=size, num_pages=pages, custom=Custom(adder=AdmittingAdder)) as llm:
        compare(llm, PROMPTS, answers, NEW)
        compare(llm, PROMPTS[::-1], answers[::-1], NEW)
        assert max(r.running for r in llm.trace) >= 2
        assert max(r.waiting for r in llm.trace) >= 2
