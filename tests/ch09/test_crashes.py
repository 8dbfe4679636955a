"""Rounds that raise while another is in flight."""

from __future__ import annotations

import pytest

from minisgl_lite import SamplingParams
from tests.helpers.scripts import scripted_llm

COUNT = {i: i + 1 for i in range(31)}


def greedy(n: int = 4) -> SamplingParams:
    return SamplingParams(max_tokens=n)


def fail_when(llm, test) -> None:
    engine = llm._parts.engine
    forward = engine.forward_batch

    def failing(batch):
        if test(batch):
            raise RuntimeError("boom")
        return forward(batch)

    engine.forward_batch = failing


def test_a_forward_pass_after_the_last_token_cannot_take_the_answers_away():
    """With overlap, one more round of a request that ends by a stop is under way; whatever becomes of it."""
    with scripted_llm(COUNT, eos_ids=(8,), overlap=True) as llm:
        fail_when(llm, lambda batch: batch.starts[0] >= 7)
        assert [out.token_ids for out in llm.generate([[1, 2, 3, 4]], greedy(20))] == [[5, 6, 7]]
        assert not llm.has_work
        llm.check_invariants()


def test_a_launch_that_raised_and_is_not_told_yet_contradicts_nothing():
    with scripted_llm(COUNT, overlap=True) as llm:
        llm.submit([1], greedy(9))
        llm.step()
        tables = llm._parts.engine.tables
        build, tables.build = tables.build, None
        llm.step()
        tables.build = build
        llm.check_invariants()
        with pytest.raises(TypeError):
            llm.step()
        assert llm.step() == [(0, None, "abort")]
        llm.check_invariants()


def test_a_closed_engine_has_no_work():
    for overlap in (False, True):
        llm = scripted_llm(COUNT, overlap=overlap)
        llm.submit([1], greedy())
        llm.step()
        llm.close()
        assert not llm.has_work
