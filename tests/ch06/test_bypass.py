"""A queue in which a request that does not fit may be overtaken, a bounded number of times."""

from __future__ import annotations

from functools import partial
from random import Random

import pytest

from minisgl_lite.assembly import Custom
from minisgl_lite.core import Req
from minisgl_lite.scheduler.admission import AdmittingAdder
from minisgl_lite.scheduler.bypass import BypassPrefillManager
from minisgl_lite.scheduler.prefill import PrefillManager
from minisgl_lite.scheduler.table import TableManager
from tests.helpers.schedules import notation, oracle, request, run, shadow, virtual


def bypass(bound: int) -> Custom:
    return Custom(adder=AdmittingAdder, queue=partial(BypassPrefillManager, bound=bound))


def crowd(rng: Random, size: int) -> list[tuple[int, Req]]:
    """Requests of all sizes, some of which end early, over 20 rounds."""
    return [
        (rng.randint(0, 20), request(uid, [rng.randrange(50) for _ in range(rng.randint(1, 3 * size))],
                                     rng.randint(1, 4 * size), rng.random() < 0.5))
        for uid in rng.sample(range(100), 16)
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_with_bound_0_the_rounds_are_those_of_the_queue_that_skips_nobody(seed):
    seen = []
    for custom in (bypass(0), Custom(adder=AdmittingAdder, queue=PrefillManager)):
        s = shadow(40, custom=custom, page_size=1 + seed % 3, max_running_req=4)
        run(s, crowd(Random(seed), 6))
        seen.append([r.entries for r in s.recorder.rounds])
    assert seen[0] == seen[1]


@pytest.mark.parametrize("bound", [0, 1, 3, 8])
@pytest.mark.parametrize("seed", range(4))
def test_nobody_is_overtaken_more_often_than_the_bound_and_everybody_gets_the_right_tokens(bound, seed):
    arrivals = crowd(Random(seed), 6)
    prompts = {req.uid: (list(req.input_ids), req) for _, req in arrivals}
    s = shadow(40, custom=bypass(bound), max_running_req=4, late=True)
    events = run(s, arrivals)
    queue = [req.uid for _, req in sorted(arrivals, key=lambda pair: pair[0])]
    started = [uid for r in s.recorder.rounds if r.phase == "prefill" for uid, _, _ in r.entries]
    assert sorted(started) == sorted(queue)
    for place, uid in enumerate(started):
        assert sum(queue.index(other) > queue.index(uid) for other in started[:place]) <= bound
    for uid, (prompt, req) in prompts.items():
        tokens, _ = oracle(prompt, req.params.max_tokens, req.params.ignore_eos)
        assert [token for u, token, _ in events if u == uid] == tokens


def test_a_large_request_is_overtaken_until_its_count_is_full():
    """A runs, B needs the whole pool, small ones would fit beside A: two may pass, then the queue is closed."""
    s = virtual(8, custom=bypass(2))
    small = [(1 + k, request(2 + k, [5], 2)) for k in range(4)]
    run(s, [(0, request(0, [5], 6)), (1, request(1, [5] * 7, 2)), *small])
    assert notation(s).startswith("P[A] P[C] D[A,C] P[D] D[A,D] D[A] D[A] D[A] P[B] D[B] P[E,F]")


def test_an_aborted_request_takes_its_count_along():
    s = virtual(12, custom=bypass(1))
    for req in (request(0, [5], 6), request(1, [5] * 11, 2), request(2, [5], 2), request(3, [5], 2)):
        s.scheduler.submit(req)
    s.loop.step()
    assert s.scheduler.prefill.overtaken == {1: 1}
    s.scheduler.abort(1)
    s.loop.step()
    assert notation(s) == "P[A,C] P[D]"
    assert s.scheduler.prefill.overtaken == {}
    run(s)


def test_a_round_gives_up_after_a_few_refusals():
    asked = []

    class Refusing:
        def try_add(self, req):
            asked.append(req.uid)
            return 0

    queue = BypassPrefillManager(TableManager(4), Refusing, bound=3)
    for uid in range(1000):
        queue.add(request(uid, [5], 2))
    assert queue.schedule_next_batch() is None
    assert asked == [0, 1, 2, 3]


def test_a_bound_below_zero_is_refused():
    with pytest.raises(ValueError, match="bound is -1; it must be at least 0"):
        BypassPrefillManager(TableManager(1), lambda: None, bound=-1)
