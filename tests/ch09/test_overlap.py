"""Overlap: the same tokens, at most one wasted round a request, nothing written where somebody else owns."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from minisgl_lite.assembly import Custom, Schedule
from minisgl_lite.choices import CHOICES, find
from minisgl_lite.core import Event, Req
from minisgl_lite.engine.virtual import VirtualEngine
from minisgl_lite.kvcache.pages import OutOfPages
from minisgl_lite.scheduler.loop import Loop
from minisgl_lite.scheduler.overlap import Crashed, OverlapLoop
from minisgl_lite.scheduler.prefill import PrefillAdder
from tests.helpers.schedules import EOS, notation, oracle, request, run, shadow, virtual

CACHES = [name for name, choice in CHOICES["cache_type"].items() if choice.here]


def overlapped(num_pages: int, **options) -> Schedule:
    return shadow(num_pages, late=True, overlap=True, **options)


def test_it_is_the_best_that_is_here_and_off_is_off():
    assert find("overlap") is OverlapLoop
    assert find("overlap", False) is Loop


# ---- how overlap moves a schedule ------------------------------------------------------------------------------------


def test_two_slots_three_requests():
    """Without overlap: P[A,B] D[A,B] P[C] D[B,C] D[B] D[B]. A's row is back one round later, so C starts one later."""
    s = virtual(100, max_running_req=2, overlap=True)
    run(s, [(0, request(0, [5] * 3, 2)), (0, request(1, [5] * 3, 5)), (1, request(2, [5] * 3, 2))])
    assert notation(s) == "P[A,B] D[A,B] D[B] P[C] D[B,C] D[B]"


def test_two_slots_budget_six_five_requests():
    """Without: P[A] P[B] D[A,B] P[C] D[A,C] D[A,C] P[D,E] D[D,E] D[E] D[E]. Rows come back one by one, a round late."""
    s = virtual(100, max_running_req=2, max_extend_tokens=6, overlap=True)
    lens = [(0, 3, 4), (1, 2, 2), (2, 3, 3), (4, 4, 2), (6, 2, 4)]
    run(s, [(at, request(uid, [5] * n, out)) for uid, (at, n, out) in enumerate(lens)])
    assert notation(s) == "P[A] P[B] D[A,B] D[A] P[C] D[A,C] D[C] P[D] P[E] D[D,E] D[E] D[E]"


def test_a_length_end_wastes_nothing_and_a_stop_one_entry():
    script = {4: 7, 5: 7, 6: EOS[0]}
    s = virtual(100, lambda uid, position: script.get(position, 9), overlap=True)
    events = run(s, [(0, request(0, [5] * 4, 8, ignore_eos=False)), (0, request(1, [5] * 4, 2))])
    assert notation(s) == "P[A,B] D[A,B] D[A] D[A]"
    assert [e for e in events if e[0] == 0] == [(0, 7, None), (0, 7, None), (0, EOS[0], "stop")]
    assert [e for e in events if e[0] == 1] == [(1, 7, None), (1, 7, "length")]


# ---- the same tokens, whatever happens -------------------------------------------------------------------------------


@pytest.mark.parametrize("cache_type", CACHES)
@pytest.mark.parametrize("budget", [64, 7])
def test_events_are_those_of_the_plain_loop(cache_type, budget):
    def events(overlap):
        s = shadow(120, late=overlap, overlap=overlap, cache_type=cache_type, max_running_req=5, page_size=2,
                   max_extend_tokens=budget)  # fmt: skip
        prompts = [[(7 * i * j + i) % 11 for j in range(1 + 3 * i % 17)] for i in range(24)]
        requests = [(i // 3, request(i, p, 1 + i % 9, i % 4 == 0)) for i, p in enumerate(prompts)]
        told = run(s, requests)
        assert max(s.loop.runner.runner.wasted.values(), default=0) <= 1 if overlap else True
        return {i: [e[1:] for e in told if e[0] == i] for i in range(24)}

    assert events(True) == events(False)


def test_a_dead_requests_last_round_writes_into_its_own_pages_only():
    """One row: A stops at its third token while a round of it is in flight; C waits for A's row and pages."""
    prompt = next(p for p in ([i, 1, 2] for i in range(50)) if len(oracle(p, 9, False)[0]) == 3)
    s = overlapped(12, max_running_req=1)
    events = run(s, [(0, request(0, prompt, 9, False)), (0, request(1, [4, 4, 4], 6))])
    assert [e[1] for e in events if e[0] == 0] == oracle(prompt, 9, False)[0]
    assert [e[1] for e in events if e[0] == 1] == oracle([4, 4, 4], 6)[0]
    assert s.loop.runner.runner.wasted == {0: 1}


def test_a_stop_and_the_limit_in_one_step_end_once():
    script = {2: 7, 3: 7, 4: EOS[0]}
    s = virtual(20, lambda uid, position: script[position], overlap=True)
    assert run(s, [(0, request(0, [1, 2], 3, False))])[-1] == (0, EOS[0], "stop")
    assert notation(s) == "P[A] D[A] D[A]"
    assert s.scheduler.cache.room() == 20


# ---- aborts ----------------------------------------------------------------------------------------------------------


def state(s: Schedule, req: Req) -> str:
    flying = "+flight" if req.last_launch > s.scheduler.committed else ""
    if req.finish_reason is not None:
        return f"{req.finish_reason}+leaving" if req in s.scheduler._retiring else req.finish_reason
    if req.uid in s.scheduler.prefill.pending:
        return "queued"
    if req.cached_len < req.prompt_len:
        return "half-way" + flying
    return ("running" if req in s.scheduler.decode.running else "finishing") + flying


@pytest.mark.parametrize("overlap", [True, False])
@pytest.mark.parametrize("when", range(13))
def test_abort_after_k_steps(when, overlap):
    """Prompts of 16, budget 4, 6 tokens to generate; a request that follows is served in the freed rows and pages."""
    s = shadow(40, late=overlap, overlap=overlap, max_running_req=2, max_extend_tokens=4)
    reqs = [request(uid, [uid] * 16, 6) for uid in range(3)]
    for req in reqs:
        s.scheduler.submit(req)
    events = [e for _ in range(when) for e in s.loop.step()]
    for uid in range(3):
        live = uid in s.scheduler.live
        assert s.scheduler.abort(uid) is live
        assert s.scheduler.abort(uid) is False
        s.scheduler.check()
    assert s.scheduler.abort(99) is False
    events += run(s, [(0, request(3, [3] * 16, 6)), (1, request(4, [4] * 9, 6))])
    ends = Counter(uid for uid, _, reason in events if reason is not None)
    assert ends == dict.fromkeys(range(5), 1)
    assert [e[1] for e in events if e[0] == 3] == oracle([3] * 16, 6)[0]
    assert [e[1] for e in events if e[0] == 4] == oracle([4] * 9, 6)[0]


def test_fifty_queued_aborts_leave_nothing_and_uids_can_be_used_again():
    s = overlapped(20, max_running_req=2)
    for uid in range(50):
        s.scheduler.submit(request(uid, [1], 3))
    for uid in range(50):
        s.scheduler.abort(uid)
    events = run(s)
    assert sorted(events) == [(uid, None, "abort") for uid in range(50)]
    assert not s.scheduler.live
    assert not s.scheduler.prefill.pending
    assert len(run(s, [(0, request(7, [1], 3))])) == 3


# ---- failures --------------------------------------------------------------------------------------------------------


class Broken(VirtualEngine):
    """Raises at one launch, or when one output is waited for."""

    def __init__(self, at: int, late: bool, error: type[BaseException] = RuntimeError) -> None:
        super().__init__(lambda uid, position: 5)
        self.at, self.late, self.error = at, late, error
        self.launched: list[int] = []

    def forward_batch(self, batch):
        self.launched.append(batch.index)
        if batch.index != self.at:
            return super().forward_batch(batch)
        if not self.late:
            raise self.error("broken")
        return Crashed(self.error("broken"))


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_a_failure_in_flight_ends_its_batch_only_and_loses_no_event(at, late, error):
    s = virtual(100, max_running_req=2, overlap=True)
    engine = s.loop.runner.runner = Broken(at, late, error)
    for uid in range(4):
        s.scheduler.submit(request(uid, [5, 6], 3))
    events, raised = [], 0
    for _ in range(40):
        try:
            events += s.loop.step()
        except error:
            raised += 1
        s.scheduler.check()
        if not s.loop.has_work:
            break
    assert raised == 1
    ends = {uid: reason for uid, _, reason in events if reason is not None}
    assert sorted(ends) == [0, 1, 2, 3]
    assert set(ends.values()) == {"abort", "length"}
    for uid, reason in ends.items():
        tokens = [token for u, token, _ in events if u == uid and token is not None]
        assert len(tokens) == 3 if reason == "length" else len(tokens) < 3
    assert engine.launched == list(range(1, len(engine.launched) + 1))


def test_nothing_is_launched_behind_a_launch_that_raised():
    """Its page-table entries may not have been written: who ran on would write through somebody else's."""
    s = virtual(100, overlap=True)
    engine = s.loop.runner.runner = Broken(2, late=False)
    s.scheduler.submit(request(0, [5, 6], 9))
    s.loop.step()
    assert s.loop.step() == [(0, 5, None)]
    with pytest.raises(RuntimeError, match="broken"):
        s.loop.step()
    assert engine.launched == [1, 2]
    assert s.loop.step() == [(0, None, "abort")]
    assert not s.loop.has_work


def test_pages_in_flight_are_waited_for_before_giving_up():
    """Chapter 05's rule admits by prompt pages: A has ended when B needs its pages, but its last round is in flight."""
    s = shadow(4, late=True, overlap=True, page_size=2, custom=Custom(adder=PrefillAdder))
    s.scheduler.submit(request(0, [1, 2, 3, 4], 5))
    s.scheduler.submit(request(1, [5, 6, 7, 8], 5))
    s.loop.step()
    assert [e[0] for e in s.loop.step()] == [0, 1]
    with pytest.raises(OutOfPages, match="request 0 cannot store position 4"):
        s.loop.step()
    s.scheduler.check()
    s.scheduler.abort(0)
    events = run(s)
    assert [token for uid, token, _ in events if uid == 1] == oracle([5, 6, 7, 8], 5)[0][1:]


# ---- random traffic --------------------------------------------------------------------------------------------------

SHAPES = [(1, 16, 192), (3, 7, 64), (16, 5, 12), (4, 64, 30)]


def traffic(size, budget, pages, late, cache_type, steps, crowd=20) -> Counter[str]:
    """Random requests, one step in nine with an abort, invariants after each; the states that aborts met."""
    s = shadow(pages, late=late, overlap=True, cache_type=cache_type, page_size=size, max_running_req=6,
               max_extend_tokens=budget)  # fmt: skip
    draw = random.Random(size * budget + late)
    base = [draw.randrange(11) for _ in range(40)]
    states: Counter[str] = Counter()
    reqs: list[Req] = []
    events: list[Event] = []
    for _ in range(steps):
        roll = draw.random()
        if roll < 0.4 and len(s.scheduler.live) < crowd:
            prompt = base[: draw.randint(0, 40)] + [draw.randrange(11) for _ in range(draw.randint(1, 6))]
            req = request(len(reqs), prompt, draw.randint(1, 12), draw.random() < 0.3)
            s.scheduler.submit(req)
            reqs.append(req)
        elif roll < 0.51 and reqs:
            leaving = list(s.scheduler._retiring)
            req = draw.choice(leaving if leaving and roll < 0.44 else reqs[-crowd:])
            states[state(s, req)] += 1
            live = req.uid in s.scheduler.live
            assert s.scheduler.abort(req.uid) is live
            states[state(s, req)] += 1
            assert s.scheduler.abort(req.uid) is False
        events += s.loop.step()
        s.scheduler.check()
    events += run(s)
    told: dict[int, list[Event]] = {req.uid: [] for req in reqs}
    for event in events:
        told[event[0]].append(event)
    for req in reqs:
        want, reason = oracle(req.input_ids[: req.prompt_len], req.params.max_tokens, req.params.ignore_eos)
        got = [token for _, token, _ in told[req.uid] if token is not None]
        ends = [why for _, _, why in told[req.uid] if why is not None]
        assert ends in ([reason], ["abort"])
        assert got == want if ends == [reason] else got == want[: len(got)]
        assert told[req.uid][-1][2] == ends[0], "an event after the last"
    assert max(s.loop.runner.runner.wasted.values(), default=0) <= 1
    return states


@pytest.mark.parametrize("cache_type", CACHES)
@pytest.mark.parametrize("late", [True, False])
@pytest.mark.parametrize(("size", "budget", "pages"), SHAPES)
def test_random_traffic(size, budget, pages, late, cache_type):
    """10,000 steps in total."""
    traffic(size, budget, pages, late, cache_type, 10_000 // (2 * len(SHAPES) * len(CACHES)))


def test_random_traffic_aborts_in_every_state():
    states = traffic(3, 7, 64, True, "naive", 2500, crowd=8)
    assert states.keys() >= {
        "queued", "half-way+flight", "running+flight", "finishing+flight", "stop", "length", "abort", "stop+leaving",
        "abort+leaving",
    }  # fmt: skip
