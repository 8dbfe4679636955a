"""Answers that are cut, or right but for their types, do not pass."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from workbook.judge.bench import load_bench
from workbook.judge.same import same
from workbook.student import workplaces
from workbook.tree import ROOT


def test_equal_values_of_other_types_are_not_the_same() -> None:
    assert same([1, ("a", {"b": None})], [1, ["a", {"b": None}]])
    for want, have in ((1, 1.0), (1, True), ([0], [False]), ({"a": [2]}, {"a": [2.0]}), ([1], [1, 2]), ([], {})):
        assert not same(want, have)


EMPTY = {"03.2": ["who_decodes"], "05.1": ["nothing_changed_when_refused", "one_request"]}
EMPTY |= {"08.2": ["by_hand", "random_trees"], "08.3": ["by_hand", "random_accounts"]}


@pytest.mark.parametrize("id_", EMPTY)
def test_an_answer_that_is_cut_does_not_pass(id_: str) -> None:
    bench = load_bench(ROOT, next(place for place in workplaces() if place.exercise.id == id_))

    class Ask:
        def __call__(self, probe: str, args: dict[str, Any] | None = None, *, seconds: float = 20.0) -> Any:
            return []

        def oracle(self) -> Any:
            return ()

    for name in EMPTY[id_]:
        with pytest.raises(ValueError, match="zip"):
            bench.checks[name](Ask(), Random(0))
