from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from minisgl_lite.engine.inputs import ragged, upload

CPU = torch.device("cpu")


def test_upload_keeps_lists_apart():
    parts = upload(CPU, [1, 2], [], [3], range(4))
    assert [p.tolist() for p in parts] == [[1, 2], [], [3], [0, 1, 2, 3]]
    assert all(p.dtype == torch.int64 for p in parts)
    assert [p.tolist() for p in upload(CPU, [], [])] == [[], []]


def test_two_requests_side_by_side():
    layout = ragged(torch.tensor([4, 0]), torch.tensor([3, 2]), 5)
    assert layout.positions.tolist() == [4, 5, 6, 0, 1]
    assert layout.entry.tolist() == [0, 0, 0, 1, 1]
    assert layout.ends.tolist() == [3, 5]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), min_size=1, max_size=12))
def test_ragged_equals_a_loop(entries):
    starts, lens = [s for s, _ in entries], [n for _, n in entries]
    layout = ragged(torch.tensor(starts), torch.tensor(lens), sum(lens))
    assert layout.positions.tolist() == [s + i for s, n in entries for i in range(n)]
    assert layout.entry.tolist() == [e for e, (_, n) in enumerate(entries) for _ in range(n)]
    assert layout.ends.tolist() == [sum(lens[: i + 1]) for i in range(len(lens))]
