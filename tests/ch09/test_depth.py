"""The scheduler with any number of batches in flight: the same tokens, a stop wastes as many entries at most."""

from __future__ import annotations

import random
from collections import deque

import pytest

from minisgl_lite.assembly import Custom
from minisgl_lite.core import Event
from minisgl_lite.scheduler.loop import Flight, Loop
from tests.helpers.schedules import oracle, request, run, shadow


class Deep(Loop):
    """Keeps `depth` batches in flight between two steps."""

    def __init__(self, depth: int, *parts) -> None:
        super().__init__(*parts)
        self.depth = depth
        self.air: deque[Flight] = deque()

    def step(self) -> list[Event]:
        while len(self.air) <= self.depth and (flight := self.launch()):
            self.air.append(flight)
        return self.settle(self.air.popleft() if self.air else None)


@pytest.mark.parametrize("depth", [0, 1, 2, 5])
def test_any_number_of_batches_in_flight(depth):
    s = shadow(300, late=True, max_running_req=4, custom=Custom(loop=lambda *parts: Deep(depth, *parts)))
    draw = random.Random(depth)
    reqs = [
        (draw.randrange(10), request(uid, [draw.randrange(50) for _ in range(draw.randint(1, 9))], 20, uid % 4 == 0))
        for uid in range(30)
    ]
    prompts = [list(req.input_ids) for _, req in reqs]
    events = run(s, reqs)
    for (_, req), prompt in zip(reqs, prompts, strict=True):
        want, reason = oracle(prompt, 20, req.uid % 4 == 0)
        assert [token for uid, token, _ in events if uid == req.uid] == want
        assert req.finish_reason == reason
    wasted = s.loop.runner.wasted
    assert max(wasted.values(), default=0) == depth
    assert all(reqs[uid][1].finish_reason == "stop" for uid in wasted)
    assert s.scheduler.cache.room() == 300
