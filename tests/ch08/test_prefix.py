"""The prefix cache: what is found, who keeps what, and what happens when room is short. On the shadow engine."""

from __future__ import annotations

import pytest

from minisgl_lite.core import InvariantError
from tests.helpers.schedules import notation, oracle, request, run, shadow

A, B, C, Z = [1, 2, 3, 4, 5, 6, 7, 8], [11, 12, 13, 14], [21, 22, 23, 24, 25, 26], [31, 32, 33, 34]


def cached(num_pages: int, **changed):
    return shadow(num_pages, **{"cache_type": "radix", "late": True, **changed})


def ask(s, uid: int, prompt: list[int], new: int) -> int:
    """Run one request alone: tokens of its prompt that were found. Its answer must be the oracle's."""
    events = run(s, [(0, request(uid, prompt, new))])
    assert [token for _, token, _ in events] == oracle(prompt, new)[0]
    return hits(s)[uid]


def hits(s) -> dict[int, int]:
    """uid -> tokens found when it started."""
    found: dict[int, int] = {}
    for r in s.recorder.rounds:
        for uid, start, _ in r.entries:
            found.setdefault(uid, start)
    return found


def answers_are_right(events, asked: dict[int, tuple[list[int], int]]) -> None:
    for uid, (prompt, new) in asked.items():
        assert [token for u, token, _ in events if u == uid] == oracle(prompt, new)[0], f"request {uid}"


@pytest.mark.parametrize(("size", "length", "found"), [(1, 1, 0), (1, 5, 4), (4, 8, 4), (4, 12, 8), (4, 16, 12)])
def test_one_token_is_always_computed(size, length, found):
    s = cached(40, page_size=size)
    prompt = list(range(length))
    assert [ask(s, uid, prompt, 3) for uid in range(2)] == [0, found]
    assert s.loop.runner.computed == length + 2 + (length - found) + 2


def test_prompts_shorter_than_a_page():
    s = cached(40, page_size=8)
    for i, n in enumerate(range(1, 10)):
        assert [ask(s, 2 * i + again, [n] * n, 1) for again in range(2)] == [0, 8 if n == 9 else 0]


def test_a_chat_finds_its_last_turn():
    """Prompt and answer are kept: all but the last token of the answer, which was never fed back."""
    s = cached(60)
    turn = [1, 2, 3]
    answer = oracle(turn, 5)[0]
    assert ask(s, 0, turn, 5) == 0
    assert ask(s, 1, turn + answer + [9, 9], 5) == 3 + 5 - 1


@pytest.mark.parametrize("size", [1, 4])
def test_a_prompt_is_shared_while_its_request_still_runs(size):
    s = cached(80 // size, page_size=size)
    events = run(s, [(0, request(0, A, 12)), (2, request(1, [*A, 9, 9], 3))])
    assert hits(s)[1] == 8
    answers_are_right(events, {0: (A, 12), 1: ([*A, 9, 9], 3)})


def test_not_before_its_computation_has_settled():
    s = cached(80, max_extend_tokens=8)
    s.scheduler.submit(request(0, A, 3))
    flight = s.loop.launch()
    s.scheduler.submit(request(1, A, 3))
    second = s.loop.launch()
    assert second.batch.starts == [0]
    s.loop.settle(flight)
    s.loop.settle(second)
    run(s)


@pytest.mark.parametrize("size", [1, 3, 4])
def test_equal_prompts_in_one_batch(size):
    """Each computes its own; one copy stays, the others are given back."""
    s = cached(120 // size, page_size=size)
    events = run(s, [(0, request(uid, [*A, 9], 3)) for uid in range(3)])
    answers_are_right(events, dict.fromkeys(range(3), ([*A, 9], 3)))
    assert s.scheduler.cache.evictable_pages == (9 + 3 - 1) // size
    assert ask(s, 3, [*A, 9], 3) == 8 // size * size


def test_a_late_duplicate_breaks_no_promise():
    """Request 1 computes what request 0 publishes. Were it to lock those pages, it would keep what it does not read."""
    s = cached(35, max_extend_tokens=8, max_running_req=4)
    prompt = list(range(11))
    others = [request(2, [30] * 10, 11), request(3, [31] * 20, 10)]
    s.scheduler.submit(request(0, prompt, 1))
    s.scheduler.submit(request(1, prompt, 5))
    for req in others:
        s.scheduler.submit(req)
    while s.loop.has_work:
        s.loop.step()
        s.scheduler.check()
        running = [r for r in s.scheduler.live.values() if r.table_idx is not None]
        assert s.scheduler.cache.room() >= sum(r.limit - len(r.pages) for r in running)


def test_a_prefix_in_use_is_not_evicted():
    s = cached(24)
    assert ask(s, 0, A, 1) == 0
    s.scheduler.submit(request(1, [*A, 9, 9], 6))
    events = s.loop.step()
    events += run(s, [(0, request(2, Z, 1)), (2, request(3, C, 2))])
    answers_are_right(events, {1: ([*A, 9, 9], 6), 2: (Z, 1), 3: (C, 2)})
    assert hits(s)[1] == 8


def test_eviction_takes_what_nobody_reads():
    """8 + 4 of 16 pages are cached; C needs 7 while a request reads A: Z goes."""
    s = cached(16)
    ask(s, 0, A, 1)
    ask(s, 1, Z, 1)
    s.scheduler.submit(request(2, [*A, 9], 1))
    s.scheduler.submit(request(3, C, 2))
    events = run(s)
    answers_are_right(events, {2: ([*A, 9], 1), 3: (C, 2)})
    assert notation(s).endswith("P[C,D] D[D]")
    assert ask(s, 4, A, 1) == 7
    assert ask(s, 5, Z, 1) == 0


def test_a_page_that_was_overwritten_is_not_found():
    s = cached(8)
    assert ask(s, 0, A, 1) == 0
    assert ask(s, 1, A[::-1], 1) == 0
    assert ask(s, 2, A, 1) == 0


def test_pages_of_evicted_prompts_are_handed_out_once():
    """Two pages each are cached of two prompts, two are free: a third needs three and costs the oldest its second."""
    s = cached(6, page_size=4)
    assert [ask(s, uid, [letter] * 9, 1) for uid, letter in enumerate((1, 2, 3, 1))] == [0, 0, 0, 4]


def test_decoding_in_a_page_that_is_there_evicts_nothing():
    s = cached(4, page_size=4)
    ask(s, 0, A, 1)
    assert ask(s, 1, [9] * 5, 3) == 0
    assert ask(s, 2, A, 1) == 4


def test_the_lock_is_taken_before_room_is_counted():
    """Once A is locked for request 2, 2 of its 10 pages of room are left, and 4 of them are promised to request 1.

    Request 1 then evicts the end of A, and request 2, when its turn comes, finds what is left of it.
    """
    s = cached(14)
    ask(s, 0, A, 1)
    s.scheduler.submit(request(1, B, 1 + 4))  # promised 8 of the 14
    s.loop.step()
    s.scheduler.submit(request(2, [*A, 9, 9], 3))
    for _ in range(4):
        s.loop.step()
        assert s.recorder.rounds[-1].phase == "decode"
        s.scheduler.check()
    run(s)
    assert hits(s)[2] == 6


def test_the_cache_is_room_for_those_who_wait():
    """A full cache keeps nobody waiting."""
    s = cached(8)
    ask(s, 0, A, 1)
    assert (s.scheduler.cache.allocator.free, s.scheduler.cache.room()) == (0, 8)
    assert ask(s, 1, [9] * 6, 3) == 0


def test_a_head_that_waits_is_not_searched_for_every_round():
    s = cached(40)
    ask(s, 0, A, 1)
    s.scheduler.submit(request(1, B, 26))
    s.scheduler.submit(request(2, A + C, 10))
    s.loop.step()
    before = s.scheduler.cache.tree.clock
    for _ in range(20):
        s.loop.step()
        assert s.recorder.rounds[-1].phase == "decode"
        s.scheduler.check()
    assert s.scheduler.cache.tree.clock - before <= 2
    run(s)
    assert hits(s)[2] == 8


def test_a_head_that_waits_sees_what_is_published():
    """B does not fit beside A until A's prompt is shared."""
    s = cached(20, max_extend_tokens=16)
    prompt = list(range(12))
    events = run(s, [(0, request(0, prompt, 6)), (0, request(1, prompt, 2))])
    assert notation(s) == "P[A] P[B] D[A,B] D[A] D[A] D[A] D[A]"
    answers_are_right(events, {0: (prompt, 6), 1: (prompt, 2)})


@pytest.mark.parametrize("gone", range(9))
def test_a_head_that_waits_sees_what_is_evicted(gone):
    s = cached(16)
    ask(s, 0, A, 1)
    cache, head = s.scheduler.cache, request(1, [*A, 9], 1)
    for evicted in (0, gone):
        cache.allocator.give(cache.tree.evict(evicted))
        cache.open(head)
        assert head.pages == list(range(8 - evicted))
        assert head.cached_len == 8 - evicted
        cache.check()
        cache.close(head)


@pytest.mark.parametrize("when", range(6))
def test_an_aborted_prompt_leaves_what_was_computed(when):
    s = cached(60, max_extend_tokens=4)
    prompt = list(range(14))
    s.scheduler.submit(request(0, prompt, 3))
    for _ in range(when):
        s.loop.step()
    flight = s.loop.launch()
    s.scheduler.abort(0)
    s.scheduler.check()
    s.loop.settle(flight)
    assert ask(s, 1, prompt, 3) == min(4 * (when + 1), 13)


def test_a_forward_pass_that_raises_publishes_nothing():
    """Neither of its members, nor of one that was aborted while it was in flight."""
    s = cached(60)
    for uid, prompt in enumerate((A, Z, C)):
        s.scheduler.submit(request(uid, prompt, 3))
    flight = s.loop.launch()
    s.scheduler.abort(1)
    s.scheduler.fail(flight.batch)
    s.loop.runner._queue.clear()
    s.scheduler.check()
    assert s.scheduler.cache.evictable_pages == 0
    assert sorted(run(s)) == [(uid, None, "abort") for uid in range(3)]
    for uid, prompt in enumerate((A, Z, C), 3):
        assert ask(s, uid, prompt, 3) == 0


def test_the_trace_tells_when_pages_change_hands():
    s = cached(4, page_size=2)
    ask(s, 0, [1, 2, 3, 4], 2)
    ask(s, 1, [1, 2, 9], 2)
    ask(s, 2, [7] * 7, 1)
    moves = [event for r in s.recorder.rounds for event in r.page_events]
    assert moves == [
        *[(0, 0), (1, 0)],  # request 0 takes two pages for its prompt
        (2, 0),  # and one for its answer
        *[(0, "cache"), (1, "cache"), (2, "free")],  # a page that is not full is not kept
        *[(2, 1), (2, "cache")],  # request 1 shares page 0: its own is the second, 9 and one more
        *[(1, "free"), (2, "free"), (0, "free")],
        *[(0, 2), (2, 2), (1, 2), (3, 2)],
        *[(0, "cache"), (2, "cache"), (1, "cache"), (3, "free")],
    ]
    assert s.recorder.rounds[-1].evictable_pages == 3


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda cache, req: setattr(cache.tree, "evictable", 5), "count as evictable"),
        (lambda cache, req: cache.tree.lock(req.handle.node), "locks, not 1"),
        (lambda cache, req: cache.tree.unlock(req.handle.node), "locks, not 1"),
        (lambda cache, req: setattr(req.handle, "shared", 3), "in two places|a page is lost|shares pages"),
        (lambda cache, req: req.pages.reverse(), "in two places|a page is lost|shares pages"),
        (lambda cache, req: cache.allocator.give(req.pages[:1]), "in two places"),
        (lambda cache, req: setattr(req.handle.node, "parent", None), "shares pages|not where its parent looks"),
        (lambda cache, req: req.handle.node.key.append(0), "tokens in"),
    ],
)
def test_the_check_sees(spoil, words):
    s = cached(40)
    ask(s, 0, A, 1)
    req = request(1, [*A, 9, 9], 6)
    s.scheduler.submit(req)
    s.loop.step()
    s.scheduler.check()
    spoil(s.scheduler.cache, req)
    with pytest.raises(InvariantError, match=words):
        s.scheduler.check()
