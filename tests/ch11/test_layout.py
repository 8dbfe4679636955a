"""The page layout against a walk over every position."""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest
import torch

from minisgl_lite.attention.layout import host_int32, page_indices, page_layout
from minisgl_lite.core import Batch, Req, SamplingParams
from minisgl_lite.engine.slots import StepInputs, Tables

ROWS, COLUMNS = 12, 40


class Walked(NamedTuple):
    """What a layout must say of some entries, found position by position."""

    counts: list[int]
    ends: list[int]
    last: list[int]


def walk(totals: list[int], size: int) -> Walked:
    pages = [[position // size for position in range(total)] for total in totals]
    counts = [len(set(mine)) for mine in pages]
    return Walked(counts, [sum(counts[:i]) for i in range(len(counts) + 1)], [mine.count(mine[-1]) for mine in pages])


@pytest.mark.parametrize("size", [1, 2, 5, 16])
def test_layout_is_what_a_walk_finds(size):
    rnd = random.Random(size)
    for _ in range(50):
        starts = [rnd.choice([0, rnd.randint(0, 40)]) for _ in range(rnd.randint(1, 6))]
        lens = [rnd.randint(1, 9) for _ in starts]
        assert page_layout(starts, lens, size) == walk([a + b for a, b in zip(starts, lens, strict=True)], size)


def test_a_full_last_page_is_full():
    assert page_layout([0, 7], [4, 1], 4).last == [4, 4]


def decode_inputs(rows: list[int], starts: list[int], size: int) -> StepInputs:
    """A decode step over a table in which every place holds another number."""
    tables = Tables(ROWS, COLUMNS * size, size, torch.device("cpu"))
    tables.page_table.copy_(torch.randperm(ROWS * COLUMNS, generator=torch.Generator().manual_seed(1)).view(ROWS, -1))
    reqs = [Req(uid, [1], SamplingParams()) for uid in range(len(rows))]
    pages = tables.page_table[rows, [start // size for start in starts]].tolist()
    new = (rows, [start // size for start in starts], pages)
    return tables.build(Batch("decode", reqs, starts, [1] * len(rows), rows, new_pages=new))


@pytest.mark.parametrize("size", [1, 4])
def test_the_flat_list_is_the_table_without_its_rest(size):
    rnd = random.Random(size)
    for _ in range(20):
        rows = rnd.sample(range(ROWS), rnd.randint(1, 8))
        starts = [rnd.randint(0, COLUMNS * size - 1) for _ in rows]
        inputs = decode_inputs(rows, starts, size)
        counts = page_layout(starts, [1] * len(rows), size).counts
        indices = page_indices(inputs, counts)
        want = [inputs.page_table[row, :n].tolist() for row, n in zip(rows, counts, strict=True)]
        assert indices.dtype == torch.int32
        assert indices.tolist() == [page for mine in want for page in mine]


def test_host_int32():
    values = host_int32([0, 3, 7])
    assert values.dtype == torch.int32
    assert values.tolist() == [0, 3, 7]
