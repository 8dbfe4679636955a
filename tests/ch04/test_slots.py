from __future__ import annotations

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from minisgl_lite.core import Batch, Req, SamplingParams
from minisgl_lite.engine.slots import Tables

CPU = torch.device("cpu")


def req(uid: int, prompt: list[int], row: int) -> Req:
    r = Req(uid, prompt, SamplingParams(max_tokens=8))
    r.table_idx = row
    return r


def prefill(size: int) -> tuple[Tables, Batch]:
    """A: 5 tokens in row 2, pages 7, 1, ...; B: 2 tokens in row 0, page 4."""
    tables, batch = Tables(4, 12, size, CPU), Batch("prefill")
    batch.add(req(0, [10, 11, 12, 13, 14], 2), 5)
    batch.add(req(1, [20, 21], 0), 2)
    pages = {1: ([2] * 5 + [0] * 2, [0, 1, 2, 3, 4, 0, 1], [7, 1, 3, 8, 5, 4, 9]), 3: ([2, 2, 0], [0, 1, 0], [7, 1, 4])}
    batch.new_pages = pages[size]
    return tables, batch


def test_prefill_page_size_one():
    tables, batch = prefill(1)
    x = tables.build(batch)
    assert x.ids.tolist() == [10, 11, 12, 13, 14, 20, 21]
    assert x.positions.tolist() == [0, 1, 2, 3, 4, 0, 1]
    assert x.out_loc.tolist() == [7, 1, 3, 8, 5, 4, 9]
    assert x.kv_lens.tolist() == [5, 2]
    assert x.last is not None
    assert x.last.tolist() == [4, 6]
    assert (x.emit_rows.tolist(), x.emit_cols.tolist()) == ([2, 0], [5, 2])
    assert tables.token_pool[2, :5].tolist() == [10, 11, 12, 13, 14]


def test_prefill_then_decode_with_pages_of_three():
    tables, batch = prefill(3)
    x = tables.build(batch)
    assert x.out_loc.tolist() == [21, 22, 23, 3, 4, 12, 13]
    tables.token_pool[x.emit_rows, x.emit_cols] = torch.tensor([15, 22])
    a, b = batch.reqs
    step = Batch("decode", [a, b], [5, 2], [1, 1], [2, 0])
    y = tables.build(step)
    assert y.ids.tolist() == [15, 22]
    assert y.out_loc.tolist() == [5, 14]
    assert y.kv_lens.tolist() == [6, 3]
    assert y.last is None
    assert y.page_table[y.rows, :2].tolist() == [[7, 1], [4, 0]]
    assert (y.emit_rows.tolist(), y.emit_cols.tolist()) == ([2, 0], [6, 3])


def test_a_new_page_is_written_before_it_is_used():
    tables, batch = prefill(3)
    tables.build(batch)
    step = Batch("decode", batch.reqs[1:], [3], [1], [0], new_pages=([0], [1], [6]))
    assert tables.build(step).out_loc.tolist() == [18]


def test_a_piece_does_not_emit():
    tables, batch = Tables(2, 12, 1, CPU), Batch("prefill")
    a = req(0, [1, 2, 3, 4], 0)
    batch.add(a, 2)
    batch.add(req(1, [9], 1), 1)
    batch.new_pages = ([0, 0, 1], [0, 1, 0], [5, 6, 7])
    x = tables.build(batch)
    assert x.last is not None
    assert (x.last.tolist(), x.emit_rows.tolist(), x.emit_cols.tolist()) == ([2], [1], [1])
    a.cached_len = 2
    rest = Batch("prefill")
    rest.add(a, 2)
    rest.new_pages = ([0, 0], [2, 3], [8, 9])
    y = tables.build(rest)
    assert (y.positions.tolist(), y.out_loc.tolist(), y.kv_lens.tolist()) == ([2, 3], [8, 9], [4])


@pytest.mark.parametrize("size", [1, 3, 4, 16])
def test_slots_equal_a_loop(size):
    tables = Tables(3, 40, size, CPU)
    tables.page_table = torch.randperm(tables.page_table.numel()).view_as(tables.page_table)
    rows, positions = torch.randint(0, 3, (50,)), torch.randint(0, 40, (50,))
    want = [int(tables.page_table[r, p // size]) * size + int(p) % size for r, p in zip(rows, positions, strict=True)]
    assert tables.slots(rows, positions).tolist() == want


class Counting(TorchDispatchMode):
    """Counts operations of torch."""

    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += 1
        return func(*args, **(kwargs or {}))


def operations(size: int, entries: int) -> tuple[int, int]:
    """How many operations it takes to build a prefill of 3 tokens an entry, and the decode step after it."""
    tables, batch = Tables(entries, 12, size, CPU), Batch("prefill")
    rows = list(range(entries))
    for row in rows:
        batch.add(req(row, [5, 6, 7], row), 3)
    pages = -(-3 // size)
    batch.new_pages = (
        [r for r in rows for _ in range(pages)],
        list(range(pages)) * entries,
        list(range(pages * entries)),
    )
    step = Batch(
        "decode", batch.reqs, [3] * entries, [1] * entries, rows, new_pages=(rows, [3 // size] * entries, rows)
    )
    counts = []
    for each in (batch, step):
        with Counting() as counting:
            tables.build(each)
        counts.append(counting.count)
    return counts[0], counts[1]


@pytest.mark.parametrize("size", [1, 3])
def test_the_operations_of_a_step_do_not_grow_with_its_requests(size):
    few, many = operations(size, 2), operations(size, 64)
    assert few == many
    assert max(few) < 50
