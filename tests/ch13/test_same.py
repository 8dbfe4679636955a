"""What ranks were given is compared by what can be told of it."""

from __future__ import annotations

from functools import partial

import pytest

from minisgl_lite.custom import Custom
from minisgl_lite.engine.choose import Greedy
from minisgl_lite.models.checkpoint import load
from minisgl_lite.parallel.same import described, difference
from minisgl_lite.scheduler.phase import PrefillFirst


class Around:
    """Parts that are called as objects and as methods."""

    def __call__(self, runner: object) -> object:
        return runner

    def pages(self, most: int) -> int:
        return most


@pytest.mark.parametrize(
    ("custom", "words"),
    [
        (Custom(), "none"),
        (Custom(policy=PrefillFirst), "policy=minisgl_lite.scheduler.phase.PrefillFirst"),
        (Custom(load=partial(load, split=None)), "load=partial(minisgl_lite.models.checkpoint.load)"),
        (
            Custom(around_runner=Around(), pages=Around().pages),
            f"pages={__name__}.Around.pages, around_runner={__name__}.Around",
        ),
        (Custom(chooser=lambda: Greedy()), f"chooser={__name__}.<lambda>"),
        (Custom(pages=len), "pages=builtins.len"),
    ],
)
def test_parts_are_told_by_name(custom, words):
    assert described(custom) == words


def test_the_first_rank_that_differs_is_named():
    told = [{"parts of its own": described(custom)} for custom in (Custom(), Custom(), Custom(policy=PrefillFirst))]
    assert difference(told[:2]) == ""
    assert difference(told) == (
        "rank 2 was given other parts of its own (policy=minisgl_lite.scheduler.phase.PrefillFirst) than rank 0 (none)"
    )
