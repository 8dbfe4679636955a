"""Admission control: what is promised, what fits beside it, and what it costs to say no."""

from __future__ import annotations

import pytest

from minisgl_lite.assembly import Custom
from minisgl_lite.kvcache.pages import OutOfPages
from minisgl_lite.scheduler.admission import AdmittingAdder
from minisgl_lite.scheduler.prefill import PrefillAdder
from tests.helpers.schedules import notation, oracle, request, run, shadow, virtual
from tests.helpers.scripts import scripted_llm

ADMIT = Custom(adder=AdmittingAdder)
PROMPT_PAGES_ONLY = Custom(adder=PrefillAdder)


def running(pages: int, held: int, promised: int, **changed):
    """A schedule whose request 0 holds `held` pages and is promised `promised` more, out of `pages`."""
    s = virtual(pages, custom=ADMIT, max_extend_tokens=100_000, **changed)
    s.scheduler.submit(request(0, [5] * held, promised + 1))
    s.loop.step()
    assert s.scheduler.cache.room() == pages - held
    return s


@pytest.mark.parametrize(
    ("prompt", "new", "promised", "room", "fits"),
    [
        (768, 256, 1024, 1800, False),
        (768, 256, 777, 1800, True),  # 768 + 256 - 1 + 777 = 1800: the last token is never stored
        (768, 256, 778, 1800, False),
        (600, 200, 500, 1200, False),
        (600, 200, 401, 1200, True),
        (600, 200, 402, 1200, False),
    ],
)
def test_what_fits_beside_a_promise(prompt, new, promised, room, fits):
    s = running(100 + room, 100, promised)
    s.scheduler.submit(request(1, [5] * prompt, new))
    s.loop.step()
    assert s.recorder.rounds[-1].entries == (((1, 0, prompt),) if fits else ((0, 100, 1),))


def test_a_promise_kept_is_the_same_promise():
    """While request 0 decodes, pages move from promised to held: the room for the next stays what it was."""
    s = running(10, 2, 6)
    s.scheduler.submit(request(1, [5] * 2, 2))
    for _ in range(6):
        s.loop.step()
        assert s.recorder.rounds[-1].phase == "decode"
    s.loop.step()
    assert notation(s).split()[-2:] == ["D[A]", "P[B]"]


@pytest.mark.parametrize("size", [1, 3, 4, 16])
@pytest.mark.parametrize("new", [1, 2, 7])
def test_one_formula(size, new):
    """A pool of exactly pages_for(limit) pages is enough for a request, one page fewer is not."""
    req = request(0, [5] * 9, new)
    exact = -(-(9 + new - 1) // size)
    s = shadow(exact, custom=ADMIT, page_size=size)
    assert [token for _, token, _ in run(s, [(0, req)])] == oracle([5] * 9, new)[0]
    if exact > 1:
        s = shadow(exact - 1, custom=ADMIT, page_size=size)
        s.scheduler.submit(request(0, [5] * 9, new))
        assert s.loop.launch() is None


def test_where_the_prompt_rule_dies_the_promise_lives():
    def four_pages(custom):
        s = shadow(4, page_size=2, custom=custom)
        return s, [(0, request(uid, [uid + 1] * 4, 5)) for uid in range(2)]

    s, arrivals = four_pages(PROMPT_PAGES_ONLY)
    with pytest.raises(OutOfPages, match="request 0 cannot store position 4"):
        run(s, arrivals)
    s, arrivals = four_pages(ADMIT)
    events = run(s, arrivals)
    assert notation(s) == "P[A] D[A] D[A] D[A] D[A] P[B] D[B] D[B] D[B] D[B]"
    for uid in range(2):
        assert [token for u, token, _ in events if u == uid] == oracle([uid + 1] * 4, 5)[0]


def test_many_at_once_count_each_other():
    """Three that fit alone, in one round: the promises of those admitted in it count for the next."""
    s = virtual(10, custom=ADMIT)
    run(s, [(0, request(uid, [5] * 2, 3)) for uid in range(3)])
    assert notation(s).startswith("P[A,B] D[A,B] D[A,B] P[C]")


def test_nobody_overtakes_the_head():
    """A holds 5 of 8 pages, B needs 5, C needs 1: C waits behind B, and both start when A is gone."""
    s = shadow(8, page_size=4, custom=ADMIT)
    run(s, [(0, request(0, [5] * 17, 4)), (1, request(1, [6] * 17, 4)), (1, request(2, [7], 2))])
    assert notation(s).startswith("P[A] D[A] D[A] D[A] P[B,C]")


@pytest.mark.parametrize("how", ["stop", "abort"])
def test_a_promise_ends_with_its_request(how):
    s = virtual(20, script=lambda uid, position: 3, custom=ADMIT)
    s.scheduler.submit(request(0, [5] * 4, 16, ignore_eos=how == "abort"))
    s.scheduler.submit(request(1, [5] * 4, 16, ignore_eos=how == "abort"))
    s.loop.step()
    if how == "abort":
        s.scheduler.abort(0)
    s.loop.step()
    assert s.recorder.rounds[-1].entries == ((1, 0, 4),)


def test_one_that_ended_in_flight_is_promised_nothing():
    """Its pages are kept until its batch has settled, but it will take no more of them."""
    s = shadow(20, late=True, custom=ADMIT)
    s.scheduler.submit(request(0, [5] * 4, 14))
    s.loop.step()
    flight = s.loop.launch()
    s.scheduler.abort(0)
    s.scheduler.submit(request(1, [6] * 4, 12))
    second = s.loop.launch()
    assert [req.uid for req in second.batch.reqs] == [1]
    s.loop.settle(flight)
    s.loop.settle(second)
    run(s)


@pytest.mark.parametrize("waiting", [10, 3_000])
def test_the_queue_costs_nothing_while_it_waits(waiting):
    """A round asks one request more than it admits, however many wait."""
    asked = []

    class Counting(AdmittingAdder):
        def try_add(self, req):
            asked.append(req.uid)
            return super().try_add(req)

    s = virtual(40, custom=Custom(adder=Counting), max_running_req=8)
    for uid in range(waiting):
        s.scheduler.submit(request(uid, [5] * 4, 6))
    for _ in range(60):
        s.loop.step()
    admitted = sum(len(r.entries) for r in s.recorder.rounds if r.phase == "prefill")
    assert admitted >= 10
    assert len(asked) <= admitted + 60


def test_prompt_and_output_larger_than_the_pool_are_cut_and_the_next_one_runs():
    with scripted_llm({i: i + 1 for i in range(31)}, page_size=4, num_pages=8, custom=ADMIT) as llm:
        from minisgl_lite import SamplingParams

        (out,) = llm.generate([[1] * 20], SamplingParams(max_tokens=20))
        assert (len(out.token_ids), out.finish_reason) == (13, "length")
        with pytest.raises(ValueError, match="the prompt has 40 tokens; the KV pool holds 32"):
            llm.submit([1] * 40)
        assert llm.generate([[1, 2, 3, 4]], SamplingParams(max_tokens=4))[0].token_ids == [5, 6, 7, 8]
        llm.check_invariants()
