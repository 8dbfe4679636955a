"""Greedy tokens are Hugging Face's, whatever is cached, whatever the pieces, whatever the pages."""

from __future__ import annotations

import pytest

from tests.helpers.checkpoints import random_prompts
from tests.helpers.engines import compare, engine, known_answers

NEW = 8
SYSTEM = random_prompts(1, 24, 24, seed=5)[0]
PROMPTS = [SYSTEM + tail for tail in random_prompts(5, 1, 12, seed=2)]  # a shared beginning
PROMPTS += [*random_prompts(3, 1, 30, seed=3), [9]]  # strangers, and one of a single token
PROMPTS += PROMPTS[:2]  # duplicates


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoint")
    return folder, known_answers(folder, PROMPTS, NEW)


@pytest.mark.parametrize("budget", [3, 8, 17, 256])
@pytest.mark.parametrize("size", [1, 4, 8])
@pytest.mark.parametrize("cache_type", ["naive", "radix"])
def test_the_same_tokens(known, cache_type, size, budget):
    """Twice, in a pool that is too small to keep everything."""
    folder, answers = known
    options = {"page_size": size, "num_pages": 136 // size, "max_running_req": 4, "max_extend_tokens": budget}
    with engine(folder, cache_type=cache_type, **options) as llm:
        for _ in range(2):
            compare(llm, PROMPTS, answers, NEW)
        prefills = [r for r in llm.trace if r.phase == "prefill"]
        assert all(sum(r.lens) <= budget for r in prefills)
        first: dict[int, int] = {}
        for r in prefills:
            for uid, start, _ in r.entries:
                first.setdefault(uid, start)
        assert any(first.values()) is (cache_type == "radix")
        idle = llm.trace[-1]
        assert (idle.running, idle.waiting, idle.free_slots) == (0, 0, 4)
        assert idle.free_pages + idle.evictable_pages == 136 // size
