"""When a uid may be given to a new request: with overlap, a round after its last event."""

from __future__ import annotations

import pytest

from tests.helpers.schedules import oracle, request, run, shadow


def test_a_uid_whose_last_round_is_in_flight_is_in_use():
    """Its stop is told, but its pages are still held under this name."""
    prompt = next(p for p in ([i, 1, 2] for i in range(50)) if len(oracle(p, 9, False)[0]) == 3)
    s = shadow(30, late=True, overlap=True, max_running_req=2)
    s.scheduler.submit(request(0, prompt, 9, False))
    while not any(reason for _, _, reason in s.loop.step()):
        pass
    with pytest.raises(ValueError, match="uid 0 is in use"):
        s.scheduler.submit(request(0, [4, 4], 5))
    s.loop.step()
    s.scheduler.check()
    events = run(s, [(0, request(0, [4, 4], 5))])
    assert [token for _, token, _ in events] == oracle([4, 4], 5)[0]
    assert s.scheduler.cache.room() == 30
