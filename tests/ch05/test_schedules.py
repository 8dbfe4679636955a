"""Whole schedules, without weights: the tables of the course, the invariants, the shadow engine as the oracle."""

from __future__ import annotations

import random

import pytest

from minisgl_lite.assembly import Custom
from minisgl_lite.core import InvariantError
from minisgl_lite.engine.virtual import LinearCost, VirtualEngine
from minisgl_lite.kvcache.pages import OutOfPages
from minisgl_lite.scheduler.decode import DecodeManager
from minisgl_lite.scheduler.prefill import PrefillAdder
from tests.helpers.schedules import notation, oracle, request, run, shadow, virtual

PROMPT_PAGES_ONLY = Custom(adder=PrefillAdder)


def test_two_slots_three_requests():
    s = virtual(100, max_running_req=2)
    run(s, [(0, request(0, [5] * 3, 2)), (0, request(1, [5] * 3, 5)), (1, request(2, [5] * 3, 2))])
    assert notation(s) == "P[A,B] D[A,B] P[C] D[B,C] D[B] D[B]"


def test_two_slots_budget_six_five_requests():
    s = virtual(100, max_running_req=2, max_extend_tokens=6)
    lens = [(0, 3, 4), (1, 2, 2), (2, 3, 3), (4, 4, 2), (6, 2, 4)]
    run(s, [(at, request(uid, [5] * n, out)) for uid, (at, n, out) in enumerate(lens)])
    assert notation(s) == "P[A] P[B] D[A,B] P[C] D[A,C] D[A,C] P[D,E] D[D,E] D[E] D[E]"


def test_five_at_once():
    s = virtual(100, max_running_req=8)
    lens, outs = (5, 5, 4, 5, 5), (6, 2, 5, 1, 4)
    run(s, [(0, request(uid, [5] * n, out)) for uid, (n, out) in enumerate(zip(lens, outs, strict=True))])
    rounds = s.recorder.rounds
    assert [(r.phase[0], len(r.entries)) for r in rounds] == [
        ("p", 5),
        ("d", 4),
        ("d", 3),
        ("d", 3),
        ("d", 2),
        ("d", 1),
    ]
    assert sum(n for _, _, n in rounds[0].entries) == 24


def test_decode_is_in_uid_order_whatever_the_arrival():
    s = virtual(100)
    run(s, [(i, request(uid, [1, 2], 6)) for i, uid in enumerate((9, 4, 7, 1))])
    orders = [[uid for uid, _, _ in r.entries] for r in s.recorder.rounds if r.phase == "decode"]
    assert max(map(len, orders)) == 4
    assert all(order == sorted(order) for order in orders)


def test_first_come_first_served_stops_at_the_first_that_does_not_fit():
    """A holds 5 of 8 pages, B needs 5, C needs 1: C waits behind B."""
    s = virtual(8, page_size=4)
    run(s, [(0, request(0, [5] * 17, 4)), (1, request(1, [5] * 17, 2)), (1, request(2, [5], 2))])
    starts = [uid for r in s.recorder.rounds if r.phase == "prefill" for uid, _, _ in r.entries]
    assert starts == [0, 1, 2]
    assert notation(s).startswith("P[A] D[A] D[A] D[A] P[B,C]")


def test_budget_is_shared_by_whole_prompts_and_a_longer_one_runs_alone():
    s = virtual(200, max_extend_tokens=10, custom=PROMPT_PAGES_ONLY)
    run(s, [(0, request(uid, [5] * n, 1)) for uid, n in enumerate((4, 6, 3, 25, 1))])
    assert notation(s) == "P[A,B] P[C] P[D] P[E]"


def test_pages_that_a_round_has_spoken_for_are_not_promised_again():
    s = virtual(6, custom=PROMPT_PAGES_ONLY)
    run(s, [(0, request(uid, [5] * 4, 2)) for uid in range(2)])
    assert notation(s) == "P[A] D[A] P[B] D[B]"


def test_rows_bound_the_running_requests():
    s = virtual(100, max_running_req=3)
    run(s, [(0, request(uid, [5], 4)) for uid in range(8)])
    assert max(r.running for r in s.recorder.rounds) == 3


def test_dying_in_mid_flight_names_the_request_and_leaves_the_engine_usable():
    """Chapter 05 admits by prompt pages: two prompts that fill the pool, and nothing left to generate into."""
    s = shadow(4, page_size=2, custom=PROMPT_PAGES_ONLY)
    s.scheduler.submit(request(0, [1, 2, 3, 4], 5))
    s.scheduler.submit(request(1, [5, 6, 7, 8], 5))
    s.loop.step()
    with pytest.raises(OutOfPages, match="request 0 cannot store position 4: 2 pages wanted, 0 of 4 free"):
        s.loop.step()
    s.scheduler.check()
    s.scheduler.abort(0)
    events = run(s)
    assert (0, None, "abort") in events
    first, _ = oracle([5, 6, 7, 8], 5)
    assert [token for uid, token, _ in events if uid == 1] == first[1:]


class Broken(VirtualEngine):
    """Fails at one launch, or when one output is waited for."""

    def __init__(self, at: int, late: bool) -> None:
        super().__init__(lambda uid, position: 5)
        self.at, self.late = at, late

    def forward_batch(self, batch):
        if batch.index != self.at:
            return super().forward_batch(batch)
        if not self.late:
            raise RuntimeError("broken")
        output = super().forward_batch(batch)
        output.tokens = self._fail
        return output

    def _fail(self):
        raise RuntimeError("broken")


@pytest.mark.parametrize("late", [False, True])
def test_a_forward_that_raises_aborts_its_batch_only(late):
    s = virtual(100, max_running_req=2)
    s.loop.runner = Broken(2, late)
    for uid in range(3):
        s.scheduler.submit(request(uid, [5, 6], 3))
    s.loop.step()
    with pytest.raises(RuntimeError, match="broken"):
        s.loop.step()
    s.scheduler.check()
    events = run(s)
    assert events[:2] == [(0, None, "abort"), (1, None, "abort")]
    assert [e[2] for e in events if e[0] == 2] == [None, None, "length"]


def test_abort_in_every_state_and_twice():
    for when in range(8):
        s = shadow(40, max_running_req=2)
        for uid in range(3):
            s.scheduler.submit(request(uid, [uid + 1] * 4, 5))
        events = []
        for _ in range(when):
            events += s.loop.step()
        for uid in range(3):
            was = uid in s.scheduler.live
            assert s.scheduler.abort(uid) is was
            assert s.scheduler.abort(uid) is False
            s.scheduler.check()
        assert s.scheduler.abort(99) is False
        events += run(s)
        assert [sum(reason is not None for u, _, reason in events if u == uid) for uid in range(3)] == [1, 1, 1]


def test_abort_between_plan_and_commit():
    s = shadow(40, late=True)
    s.scheduler.submit(request(0, [1, 2, 3], 5))
    s.scheduler.submit(request(1, [4, 5, 6], 5))
    s.loop.step()
    flight = s.loop.launch()
    s.scheduler.abort(0)
    s.scheduler.check()
    assert s.scheduler.in_use(0)
    events = s.loop.settle(flight)
    assert events[0] == (0, None, "abort")
    assert [e[0] for e in events[1:]] == [1]
    run(s)


def test_a_uid_is_in_use_until_its_last_event_is_delivered():
    s = virtual(40)
    s.scheduler.submit(request(5, [1], 3))
    with pytest.raises(ValueError, match="uid 5 is in use"):
        s.scheduler.submit(request(5, [2], 3))
    s.scheduler.abort(5)
    with pytest.raises(ValueError, match="uid 5 is in use"):
        s.scheduler.submit(request(5, [2], 3))
    assert s.loop.step() == [(5, None, "abort")]
    s.scheduler.submit(request(5, [2], 3))
    run(s)


def test_stop_wins_over_length_and_ends_once():
    s = virtual(40, script=lambda uid, position: (7, 8, 3)[position - 2])
    events = run(s, [(0, request(0, [1, 2], 3, ignore_eos=False))])
    assert events == [(0, 7, None), (0, 8, None), (0, 3, "stop")]


@pytest.mark.parametrize("first", [3, 17])
def test_stop_as_the_very_first_token(first):
    s = virtual(40, script=lambda uid, position: first)
    assert run(s, [(0, request(0, [1, 2], 3, ignore_eos=False))]) == [(0, first, "stop")]
    assert notation(s) == "P[A]"


@pytest.mark.parametrize("size", [1, 3, 4])
@pytest.mark.parametrize("prompt", [3, 4, 5])
@pytest.mark.parametrize("new", [1, 2, 3, 4, 5, 6])
def test_pages_held_follow_the_formula(size, prompt, new):
    """After k tokens have been sampled, prompt + k - 1 positions are stored: the newest token's K/V is not."""
    s = virtual(40, page_size=size)
    req = request(0, [5] * prompt, new)
    s.scheduler.submit(req)
    for k in range(1, new):
        s.loop.step()
        assert req.cached_len == prompt + k - 1
        assert len(req.pages) == s.scheduler.cache.allocator.pages_for(prompt + k - 1)
    run(s)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("size", [1, 3, 16])
def test_random_traffic(size, late):
    rnd = random.Random(size * 2 + late)
    s = shadow(max(160 // size, 12), page_size=size, late=late, max_running_req=5, max_extend_tokens=20)
    asked, got, ended = {}, {}, {}

    def take(events):
        for uid, token, reason in events:
            assert uid not in ended, "an event after the last"
            if token is not None:
                got[uid].append(token)
            if reason is not None:
                ended[uid] = reason

    for uid in range(500):
        if rnd.random() < 0.5 and len(s.scheduler.live) < 12:
            prompt, new, ignore = (
                [rnd.randrange(50) for _ in range(rnd.randint(1, 20))],
                rnd.randint(1, 8),
                rnd.random() < 0.5,
            )
            s.scheduler.submit(request(uid, prompt, new, ignore))
            asked[uid], got[uid] = (prompt, new, ignore), []
        if rnd.random() < 0.06 and asked:
            s.scheduler.abort(rnd.choice(list(asked)))
        try:
            take(s.loop.step())
        except OutOfPages:
            s.scheduler.check()
            s.scheduler.abort(next(iter(s.scheduler.cache.accounts)))
        s.scheduler.check()
    while s.loop.has_work:
        take(s.loop.step())
        s.scheduler.check()
    assert len(asked) > 100
    for uid, (prompt, new, ignore) in asked.items():
        want, reason = oracle(prompt, new, ignore)
        if ended[uid] == "abort":
            assert got[uid] == want[: len(got[uid])]
        else:
            assert (got[uid], ended[uid]) == (want, reason)
    assert not s.loop.runner.wasted


def test_the_shadow_engine_catches_a_page_given_back_early():
    s = shadow(40, late=True)
    s.scheduler.submit(request(0, [1, 2, 3], 5))
    s.loop.step()
    flight = s.loop.launch()
    s.scheduler.cache.allocator.give(s.scheduler.cache.accounts[0].pages[:1])
    with pytest.raises(InvariantError, match="request 0: position 0 is in page"):
        flight.output.tokens()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda s, r: s.cache.allocator.give(r.pages[:1]), "in two places"),
        (lambda s, r: r.pages.pop(), "a page is lost"),
        (lambda s, r: s.table.give(r.row), "a row is lost"),
        (lambda s, r: s.decode.running.reverse(), "not in uid order"),
        (lambda s, r: s.live.pop(r.uid), "still in the decode set"),
        (lambda s, r: setattr(r, "cached_len", r.limit), "positions|without a token to come"),
        (lambda s, r: setattr(r, "limit", r.cached_len), "without a token to come"),
        (lambda s, r: (s.live.pop(r.uid), s.decode.discard(r)), "an account is open for a request that is gone"),
        (lambda s, r: s.prefill.add(request(77, [1], 1)), "still queued"),
    ],
)
def test_the_check_sees(spoil, words):
    s = virtual(40)
    for uid in range(2):
        s.scheduler.submit(request(uid, [1, 2, 3], 5))
    s.loop.step()
    s.scheduler.check()
    spoil(s.scheduler, s.scheduler.live[0])
    with pytest.raises(InvariantError, match=words):
        s.scheduler.check()


def test_the_trace_tells_how_things_stand_after_the_commit():
    s = virtual(10, page_size=2, max_running_req=1)
    run(s, [(0, request(0, [1, 2, 3], 2)), (0, request(1, [1], 1))])
    first, second, third = s.recorder.rounds
    assert first.entries == ((0, 0, 3),)
    assert (first.waiting, first.running, first.free_slots, first.free_pages) == (1, 1, 0, 8)
    assert (first.waiting_uids, first.finished, first.start, first.end) == ((1,), (), 0.0, 1.0)
    assert first.page_events == ((0, 0), (1, 0))
    assert (second.phase, second.entries, second.finished) == ("decode", ((0, 3, 1),), ((0, "length"),))
    assert second.page_events == ((0, "free"), (1, "free"))
    assert (third.entries, third.waiting, third.free_pages, third.evictable_pages) == (((1, 0, 1),), 0, 10, 0)


def test_the_trace_keeps_the_last_ten_thousand_rounds():
    s = virtual(3, page_size=4096, max_running_req=1)
    run(s, [(0, request(0, [1], 10_050))], most=20_000)
    assert [r.index for r in s.recorder.rounds] == list(range(50, 10_050))


def test_a_long_queue_is_counted_and_its_first_are_named():
    s = virtual(100, max_running_req=1)
    for uid in range(70):
        s.scheduler.submit(request(uid, [1], 1))
    s.loop.step()
    (only,) = s.recorder.rounds
    assert (only.waiting, only.waiting_uids) == (69, tuple(range(1, 65)))


def test_batches_are_settled_in_launch_order():
    s = virtual(20)
    s.scheduler.submit(request(0, [1], 4))
    first, second = s.loop.launch(), s.loop.launch()
    with pytest.raises(InvariantError, match="batch 2 settled after batch 0"):
        s.loop.settle(second)
    assert first.batch.index == 1


def test_a_batch_in_flight_keeps_its_members():
    decode = DecodeManager()
    for uid in (2, 1):
        req = request(uid, [1], 4)
        req.table_idx = uid
        req.cached_len = 1
        decode.add([req])
    batch = decode.schedule_next_batch()
    decode.keep(lambda r: r.uid == 2)
    assert [r.uid for r in batch.reqs] == [1, 2]
    assert batch.rows == [1, 2]


def test_costs():
    s = virtual(40)
    s.loop.runner.cost = LinearCost(fixed=1.0, per_token=0.5, per_position=0.25)
    s.scheduler.submit(request(0, [1, 2], 2))
    s.loop.step()
    assert s.loop.runner.now() == 1.0 + 0.5 * 2 + 0.25 * 2
    s.loop.step()
    assert s.recorder.rounds[-1].end - s.recorder.rounds[-1].start == 1.0 + 0.5 + 0.25 * 3
