"""Chunked prefill: how a budget is shared, what a piece may not do, who waits for whom."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import pytest

from minisgl_lite.assembly import Custom
from minisgl_lite.scheduler.chunked import ChunkedAdder, ChunkedPrefillManager
from minisgl_lite.scheduler.interleave import Interleave
from tests.helpers.schedules import notation, oracle, request, run, shadow, virtual


def chunked(policy=None) -> Custom:
    return Custom(adder=ChunkedAdder, queue=ChunkedPrefillManager, policy=policy)


def pieces(s, uid: int) -> list[int]:
    return [n for r in s.recorder.rounds if r.phase == "prefill" for u, _, n in r.entries if u == uid]


def answer(events, uid: int) -> list[int]:
    return [token for u, token, _ in events if u == uid and token is not None]


def test_the_chunks_of_a_long_prompt():
    s = virtual(4096, custom=chunked(), max_extend_tokens=1024)
    run(s, [(0, request(0, [5] * 2500, 2))])
    assert pieces(s, 0) == [1024, 1024, 452]
    assert notation(s) == "P[A] P[A] P[A] D[A]"


def test_a_budget_is_shared():
    """800 of 1,024 taken: 224 are left for the next prompt, which then goes first and leaves room for a third."""
    s = virtual(4096, custom=chunked(), max_extend_tokens=1024)
    run(s, [(0, request(0, [5] * 800, 1)), (0, request(1, [5] * 1000, 1)), (0, request(2, [5] * 9, 1))])
    assert [r.entries for r in s.recorder.rounds] == [((0, 0, 800), (1, 0, 224)), ((1, 224, 776), (2, 0, 9))]


def test_eight_prompts_of_ten_in_five_rounds_of_sixteen():
    s = virtual(200, custom=chunked(), max_extend_tokens=16)
    run(s, [(0, request(uid, [5] * 10, 1)) for uid in range(8)])
    assert [sum(r.lens) for r in s.recorder.rounds] == [16] * 5
    order = [uid for r in s.recorder.rounds for uid in r.uids]
    assert order == sorted(order)


@pytest.mark.parametrize("budget", [1, 2, 3, 5, 7, 8, 16, 17, 18])
@pytest.mark.parametrize("size", [1, 4])
def test_every_budget_gives_the_same_tokens(budget, size):
    prompt = [(3 * i) % 50 for i in range(17)]
    s = shadow(40, custom=chunked(), page_size=size, max_extend_tokens=budget)
    events = run(s, [(0, request(0, prompt, 5))])
    assert answer(events, 0) == oracle(prompt, 5)[0]
    assert sum(pieces(s, 0)) == 17
    assert len(pieces(s, 0)) == -(-17 // budget)
    assert s.loop.runner.computed == 17 + 4


@pytest.mark.parametrize("budget", [4, 8, 16])
def test_pieces_that_end_on_a_page_edge(budget):
    prompt = [(3 * i) % 50 for i in range(16)]
    s = shadow(5, custom=chunked(), page_size=4, max_extend_tokens=budget)
    assert answer(run(s, [(0, request(0, prompt, 5))]), 0) == oracle(prompt, 5)[0]


@pytest.mark.parametrize("new", [1, 2])
def test_the_first_token_may_be_the_last(new):
    s = shadow(12, custom=chunked(), max_extend_tokens=4)
    events = run(s, [(0, request(0, [7] * 10, new))])
    want = oracle([7] * 10, new)[0]
    assert events == [(0, token, None if i + 1 < new else "length") for i, token in enumerate(want)]


def test_an_unfinished_prompt_emits_nothing_and_does_not_decode():
    s = shadow(40, custom=chunked(), max_extend_tokens=4)
    req = request(0, [7] * 10, 3)
    s.scheduler.submit(req)
    for computed in (4, 8):
        assert s.loop.step() == []
        assert (req.cached_len, req.can_decode, s.scheduler.decode.running) == (computed, False, [])
        assert s.recorder.rounds[-1].waiting == 0
    assert len(s.loop.step()) == 1
    assert s.scheduler.decode.running == [req]


def test_the_whole_need_is_promised_with_the_first_piece():
    """A (4 + 12) runs in 10 pages of 4, B (24 + 4) waits for it: a first piece of B alone would fit."""
    s = shadow(10, custom=chunked(), page_size=4, max_extend_tokens=8)
    a, b = [1, 2, 3, 4], [9] * 24
    events = run(s, [(0, request(0, a, 12)), (1, request(1, b, 4))])
    assert notation(s) == "P[A] " + "D[A] " * 11 + "P[B] P[B] P[B] D[B] D[B] D[B]"
    assert (answer(events, 0), answer(events, 1)) == (oracle(a, 12)[0], oracle(b, 4)[0])


def test_a_prompt_half_way_keeps_its_promise_from_those_behind():
    """B's second piece leaves budget for C, and two of the free pages would do; but all of them are promised."""
    s = virtual(12, custom=chunked(Interleave), max_extend_tokens=4)
    run(s, [(0, request(0, [5], 4)), (1, request(1, [5] * 6, 3)), (1, request(2, [5] * 2, 1))])
    assert notation(s) == "P[A] P[B] D[A] P[B] D[A,B] D[A,B] P[C]"
    s = virtual(9, custom=chunked(), max_extend_tokens=4)
    run(s, [(0, request(1, [5] * 5, 4)), (0, request(2, [5] * 2, 1))])
    assert notation(s) == "P[B] P[B] D[B] D[B] D[B] P[C]"


def test_no_free_row_is_needed_to_go_on():
    s = virtual(40, custom=chunked(), max_running_req=1, max_extend_tokens=4)
    run(s, [(0, request(0, [5] * 10, 1)), (0, request(1, [5] * 2, 1))])
    assert notation(s) == "P[A] P[A] P[A] P[B]"


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("when", range(13))
def test_abort_in_every_state(when, late):
    s = shadow(24, custom=chunked(), page_size=4, max_extend_tokens=4, max_running_req=1, late=late)
    s.scheduler.submit(request(0, [7] * 16, 6))
    s.scheduler.submit(request(1, [8] * 9, 3))
    events = []
    for _ in range(when):
        events += s.loop.step()
    flight = s.loop.launch() if late else None
    s.scheduler.abort(0)
    s.scheduler.check()
    events += s.loop.settle(flight)
    events += run(s)
    assert sum(reason is not None for uid, _, reason in events if uid == 0) == 1
    assert answer(events, 1) == oracle([8] * 9, 3)[0]


def test_a_piece_whose_forward_pass_raises_is_given_up():
    s = virtual(40, custom=chunked(), max_extend_tokens=4)
    s.scheduler.submit(request(0, [5] * 10, 2))
    s.scheduler.submit(request(1, [5] * 3, 1))
    s.loop.step()
    s.scheduler.fail(s.loop.launch().batch)
    s.scheduler.check()
    events = run(s)
    assert events == [(0, None, "abort"), (1, 5, "length")]


# ---- who waits for whom -------------------------------------------------------------------------------------------


def long_beside_short(policy):
    """B decodes; C's prompt takes three pieces."""
    s = virtual(200, custom=chunked(policy), max_extend_tokens=10)
    run(s, [(0, request(1, [5] * 2, 6)), (1, request(2, [5] * 25, 2))])
    return notation(s)


def test_chunking_alone_lets_nobody_in():
    assert long_beside_short(None) == "P[B] P[C] P[C] P[C] D[B,C] D[B] D[B] D[B] D[B]"


def test_interleaved():
    assert long_beside_short(Interleave) == "P[B] P[C] D[B] P[C] D[B] P[C] D[B,C] D[B] D[B]"
    assert long_beside_short(partial(Interleave, 2)) == "P[B] P[C] P[C] D[B] P[C] D[B,C] D[B] D[B] D[B]"


def largest_gap(policy, arrivals: int = 30) -> int:
    """Rounds between two tokens of request 0 while another prompt arrives before each round."""
    s = virtual(1000, custom=chunked(policy), max_extend_tokens=8, max_running_req=64)
    run(s, [(0, request(0, [5] * 2, 12)), *((1 + i, request(1 + i, [5] * 8, 1)) for i in range(arrivals))])
    mine = [r.index for r in s.recorder.rounds if 0 in r.uids]
    return max(b - a for a, b in pairwise(mine))


def test_the_longest_wait_of_a_decode():
    assert largest_gap(None) == 31  # no bound: as long as prompts keep coming
    for prefills in (1, 2, 5):
        assert largest_gap(partial(Interleave, prefills)) == prefills + 1


def test_a_prefill_round_that_nobody_waits_for_is_not_counted():
    """A's three pieces run in a row, and B's first round is the first that A waits for."""
    s = virtual(200, custom=chunked(Interleave), max_extend_tokens=10)
    run(s, [(0, request(0, [5] * 25, 2)), (0, request(1, [5] * 24, 1))])
    assert notation(s) == "P[A] P[A] P[A,B] P[B] D[A] P[B]"


def test_interleave_needs_a_number():
    with pytest.raises(ValueError, match="prefills is 0; it must be at least 1"):
        Interleave(0)
