from __future__ import annotations

import pytest
import torch

from workbook.judge.watching import Calls, Operations


def test_calls_that_wait_for_the_device_are_noted() -> None:
    lens = torch.tensor([1, 2])
    with Calls() as calls:
        torch.repeat_interleave(lens, output_size=3)
        assert calls.waits == []
        torch.repeat_interleave(lens)
        lens.tolist()
        int(lens[0])
    assert calls.waits[:2] == ["repeat_interleave", "tolist"]
    assert len(calls.waits) >= 3
    assert calls.names.count("repeat_interleave") == 2


def test_operations_are_counted_with_their_devices() -> None:
    there = torch.zeros(3, device="meta")
    with Operations() as operations:
        there + 1
        assert operations.devices == {"meta"}
        torch.arange(3)
        operations.on = False
        torch.ones(2)
    assert operations.devices == {"meta", "cpu"}
    assert operations.names == ["add", "arange"]


def test_shapes_that_depend_on_values_are_waits() -> None:
    mask, ids = torch.tensor([True, False]), torch.tensor([3, 3])
    for ask in (
        lambda: ids[mask],
        lambda: torch.where(mask),
        lambda: torch.argwhere(mask),
        lambda: mask.nonzero(),
        lambda: ids.unique(),
        lambda: torch.bincount(ids),
        lambda: ids.__setitem__(mask, torch.tensor([4])),
    ):
        with Operations() as operations:
            ask()
        assert operations.waits, operations.names
    with Operations() as operations:
        ids[torch.tensor([1, 0])], torch.where(mask, ids, 0), ids.masked_fill(mask, 0)
    assert operations.waits == []


def test_an_operation_that_raises_is_noted() -> None:
    there = torch.zeros(3, device="meta")
    with Operations() as operations, pytest.raises(RuntimeError):
        there[there == 0]
    assert operations.waits == ["x[mask]"]
