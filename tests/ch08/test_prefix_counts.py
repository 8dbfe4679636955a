"""Which tokens the prefix cache makes the engine compute: counted with sets of texts, without a tree."""

from __future__ import annotations

from random import Random

import pytest

from tests.helpers.schedules import notation, oracle, request, run, shadow, virtual


@pytest.mark.parametrize("size", [1, 3, 8])
def test_each_page_of_text_is_computed_once(size):
    rng, known = Random(size), set()
    s = shadow(4000, cache_type="radix", page_size=size, max_extend_tokens=500)
    stems = [[rng.randrange(50) for _ in range(40)] for _ in range(3)]
    for uid in range(40):
        prompt = rng.choice(stems)[: rng.randint(1, 40)] + [rng.randrange(5) for _ in range(rng.randint(0, 6))]
        pages = [tuple(prompt[: end + size]) for end in range(0, len(prompt) - size, size)]  # all but the last token
        found = next((i for i, text in enumerate(pages) if text not in known), len(pages))
        answer = [token for _, token, _ in run(s, [(0, request(uid, prompt, 6))])]
        assert answer == oracle(prompt, 6)[0]
        first = next(r for r in s.recorder.rounds if uid in r.uids)
        assert first.entries == ((uid, found * size, len(prompt) - found * size),)
        stored = [*prompt, *answer][: len(prompt) + 5]  # the last token of the answer is never computed
        known |= {tuple(stored[:end]) for end in range(size, len(stored) + 1, size)}


def test_equal_prompts_in_one_batch_leave_one_copy():
    s = shadow(100, cache_type="radix", page_size=2, max_extend_tokens=100)
    prompt = list(range(10))
    run(s, [(0, request(uid, prompt, 3)) for uid in range(3)])
    assert [r.starts for r in s.recorder.rounds if r.phase == "prefill"] == [[0, 0, 0]]
    assert s.scheduler.cache.tree.size == 6  # 10 + 3 - 1 positions in pages of 2
    assert s.scheduler.cache.allocator.free == 94
    run(s, [(0, request(3, prompt, 3))])
    assert s.recorder.rounds[-3].entries == ((3, 8, 2),)


def test_a_prompt_is_shared_while_its_request_runs():
    s = virtual(100, cache_type="radix")
    run(s, [(0, request(0, range(20), 9)), (2, request(1, [*range(20), 1], 1))])
    first = next(r for r in s.recorder.rounds if 1 in r.uids)
    assert (first.entries, first.running) == (((1, 20, 1),), 1)


def test_a_conversation_computes_what_is_new():
    s, told, found = virtual(1000, cache_type="radix"), list(range(30)), []
    for uid in range(5):
        events = run(s, [(0, request(uid, told, 4))])
        found.append(next(r for r in s.recorder.rounds if uid in r.uids).entries[0][1:])
        told = [*told, *(token for _, token, _ in events), 100 + uid, 200 + uid]
    # the answer's last token was never computed; two tokens are typed
    assert found == [(0, 30), (33, 3), (39, 3), (45, 3), (51, 3)]


def test_the_least_recently_used_conversation_goes_first():
    s = virtual(30, cache_type="radix")
    texts = [list(range(base, base + 8)) for base in (100, 200, 300)]
    for uid, text in enumerate(texts):
        run(s, [(0, request(uid, text, 2))])
    run(s, [(0, request(3, texts[0], 2))])  # used again
    run(s, [(0, request(4, range(400, 408), 2))])  # 9 pages, and 3 of 30 are free
    found = []
    for uid, text in enumerate(texts, 5):
        s.scheduler.cache.open(req := request(uid, text, 2))
        found.append(req.cached_len)
        s.scheduler.cache.close(req)
    assert found == [7, 3, 7]


@pytest.mark.parametrize(("new", "rounds"), [(3, "P[B,C] D[B,C] D[C]"), (4, "P[B] D[B] P[C] D[C] D[C] D[C]")])
def test_the_lock_comes_before_room_is_counted(new, rounds):
    s = virtual(12, cache_type="radix")
    run(s, [(0, request(0, range(8), 1))])
    assert s.scheduler.cache.room() == 12
    # B is promised 2 pages; C finds 6, then 6 - 2 can be had: enough for a limit of 10, too few for one of 11
    run(s, [(0, request(1, [500], 2)), (0, request(2, [*range(6), 90, 91], new))])
    assert notation(s) == f"P[A] {rounds}"
