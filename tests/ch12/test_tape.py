"""The tape repeats what torch did: the same operations on the same tensors."""

from __future__ import annotations

import pytest
import torch

from minisgl_lite.assembly import assemble
from minisgl_lite.config import EngineConfig
from minisgl_lite.engine.tape import record, tape_decode


def test_a_replay_reads_what_was_written_and_writes_where_it_wrote():
    x, out = torch.tensor([1.0, 2.0]), []

    def work() -> None:
        out.append(x * 2 + 1)

    replay = record(work)
    assert len(out) == 1, "recording runs the work once"
    x.copy_(torch.tensor([10.0, 20.0]))
    assert out[0].tolist() == [3.0, 5.0]
    replay()
    assert out[0].tolist() == [21.0, 41.0]
    assert len(out) == 1, "a replay runs no Python"


def test_views_are_no_work_and_stay_views():
    x, out = torch.arange(6.0), []

    def work() -> None:
        rows = (x + 1).view(2, 3)
        rows[0].mul_(2)
        out.append(rows.t().chunk(3)[1])

    replay = record(work)
    assert [call.name for call in replay.calls] == ["add", "mul_"]
    x.mul_(10)
    replay()
    assert out[0].tolist() == [[22.0, 41.0]]


def test_several_outputs_and_outputs_given():
    x, kept, values = torch.tensor([3.0, 1.0, 2.0]), [], torch.zeros(3)

    def work() -> None:
        kept.extend(x.sort())
        torch.add(kept[0], 1, out=values)

    replay = record(work)
    x.copy_(torch.tensor([5.0, 9.0, 4.0]))
    replay()
    assert kept[0].tolist() == [4.0, 5.0, 9.0]
    assert kept[1].tolist() == [2, 0, 1]
    assert values.tolist() == [5.0, 6.0, 10.0]


def test_what_the_host_would_read_is_refused():
    x = torch.ones(1)
    with pytest.raises(RuntimeError, match="host"):
        record(lambda: x.mul_(x.item()))


def test_recording_leaves_an_empty_pool():
    """It writes into page 0, which nobody owns yet."""
    engine = assemble(EngineConfig("tiny", device="cpu", num_pages=8, page_size=4, max_seq_len=16)).engine
    tape_decode(engine, [1, 4])
    assert not engine.pool.k.any()
    assert not engine.pool.v.any()
