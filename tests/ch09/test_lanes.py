"""Two clocks: what overlap hides, and what it cannot."""

from __future__ import annotations

from itertools import pairwise

import pytest

from minisgl_lite.assembly import Schedule, assemble_scheduler
from minisgl_lite.engine.lanes import HostCost, TwoClockEngine, idle_share
from minisgl_lite.engine.virtual import LinearCost, VirtualEngine
from tests.helpers.schedules import notation, options, request, run


def two_clocks(overlap: bool, device: float = 1.0, launch: float = 0.25, settle: float = 0.25) -> Schedule:
    engine = TwoClockEngine(VirtualEngine(lambda uid, position: 5, LinearCost(device)), HostCost(launch, settle))
    schedule = assemble_scheduler(options(overlap=overlap), 100, lambda _: engine)
    run(schedule, [(0, request(uid, [5, 6], 8)) for uid in range(3)])
    return schedule


def engine(s: Schedule) -> TwoClockEngine:
    inner = getattr(s.loop.runner, "runner", s.loop.runner)
    assert isinstance(inner, TwoClockEngine)
    return inner


def test_without_overlap_the_device_waits_for_the_host():
    s = two_clocks(False)
    lanes = engine(s).lanes
    assert [lane.device for lane in lanes[:3]] == [(0.25, 1.25), (1.75, 2.75), (3.25, 4.25)]
    assert lanes[1].launch == (1.5, 1.75)
    assert lanes[1].wait == (1.75, 2.75)
    assert lanes[1].settle == (2.75, 3.0)
    assert engine(s).now() == 8 * 1.5
    assert idle_share(lanes) == pytest.approx(7 * 0.5 / (8 + 7 * 0.5))


def test_with_overlap_the_device_is_never_idle_while_the_host_is_faster():
    s = two_clocks(True)
    lanes = engine(s).lanes
    assert [lane.device for lane in lanes[:3]] == [(0.25, 1.25), (1.25, 2.25), (2.25, 3.25)]
    assert lanes[0].wait == (0.5, 1.25)
    assert idle_share(lanes) == 0.0
    assert engine(s).now() == 8 + 0.25 + 0.25
    assert notation(s) == notation(two_clocks(False))


def test_a_slow_host_is_not_hidden_the_device_waits_for_it():
    s = two_clocks(True, device=0.25, launch=0.5, settle=0.5)
    lanes = engine(s).lanes
    assert all(lane.wait[0] == lane.wait[1] for lane in lanes[1:-1]), "the host has work all the time"
    assert lanes[3].device[0] - lanes[2].device[0] == 1.0
    assert idle_share(lanes) > 0.6


def test_lanes_are_in_order_and_the_trace_has_the_hosts_times():
    s = two_clocks(True)
    lanes, rounds = engine(s).lanes, list(s.recorder.rounds)
    assert [(lane.uids, lane.phase) for lane in lanes] == [(tuple(r.uids), r.phase) for r in rounds]
    for lane, r in zip(lanes, rounds, strict=True):
        assert (lane.launch[0], lane.settle[1]) == (r.start, r.end)
        assert lane.launch[1] <= lane.device[0] <= lane.device[1] <= lane.wait[1] == lane.settle[0]
    assert all(a.device[1] <= b.device[0] for a, b in pairwise(lanes))
    assert idle_share([]) == 0.0
