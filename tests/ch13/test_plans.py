"""The ranks' plans are compared in all that they say."""

from __future__ import annotations

from dataclasses import fields

import pytest

from minisgl_lite.core import Batch
from minisgl_lite.parallel.agree import described, first_difference

OTHER = {"phase": "prefill", "emits": [0], "new_pages": ([1], [4], [9]), "index": 4}
"""Values that are not those of a batch that says nothing; lists of integers have [8]."""


@pytest.mark.parametrize("name", [field.name for field in fields(Batch) if field.name != "reqs"])
def test_all_that_a_batch_says_is_compared(name):
    values = [OTHER.get(name, [8])]
    if name == "new_pages":  # three lists
        values += [([0], [5], [9]), ([0], [4], [8])]
    for value in values:
        one, other = (Batch("decode", new_pages=([0], [4], [9]), index=3) for _ in range(2))
        setattr(other, name, value)
        assert first_difference([described(one), described(other)]), value
