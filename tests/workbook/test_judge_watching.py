from __future__ import annotations

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
