"""How the answers to exercise 06.3 are judged. Runs in the judge, beside the package's own modules."""

from __future__ import annotations

from dataclasses import asdict
from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result
from workbook.judge.drive import EMPTY_BATCH, Traffic
from workbook.words import counted

from .common import Model, first_difference, plain, seen_rounds, tight_traffic, told


def judge_overtaking(ask: Ask, traffic: Traffic, bound: int) -> Result:
    """A schedule with overtaking beside the model's; the first difference is named."""
    got = ask("overtaking", {"traffic": asdict(traffic), "bound": bound})
    if got["broken"]:
        slug = "empty-batch" if got["broken"][1] == EMPTY_BATCH else "books-do-not-add-up"
        return Result.failed(slug, f"bound {bound}: in round {got['broken'][0]}: {got['broken'][1]}")
    want, have = Model(traffic, bound).rounds(), seen_rounds(got)
    number = first_difference(want, have)
    if number is None:
        return Result.ok(f"{len(want)} rounds")
    expected, round_ = [*want, None][number], [*have, None][min(number, len(have))]
    message = f"bound {bound}, {traffic.pages} pages: {told(number, expected, round_)}"
    most = overtakings(traffic, have[: number + 1])
    if most and max(most.values()) > bound:
        uid = max(most, key=lambda u: most[u])
        slug = "queue-jumping" if bound == 0 else "overtaken-too-often"
        return Result.failed(slug, f"{message}. Request {uid} has been overtaken {counted(most[uid], 'time')}")
    message += told_counts(traffic, have[:number])
    if round_ and expected and round_[0] == expected[0] == "prefill":
        return Result.failed(name_start(expected[1], round_[1]), message)
    if expected and expected[0] == "prefill":
        fresh = not any(overtakings(traffic, want[:number]).values())
        return Result.failed("nobody-overtakes" if fresh else "stops-too-early", message)
    return Result.failed("queue-jumping" if round_ and round_[0] == "prefill" else "stops-too-early", message)


def told_counts(traffic: Traffic, before: list[list[Any]]) -> str:
    """`. Overtaken before it, of those who wait: request 90 3 times`, from the rounds before."""
    started = {uid for phase, uids in before if phase == "prefill" for uid in uids}
    counts = {uid: n for uid, n in overtakings(traffic, before).items() if uid not in started and n}
    said = ", ".join(f"request {uid} {n} time{'s' * (n > 1)}" for uid, n in counts.items())
    return f". Overtaken before it, of those who wait: {said or 'nobody'}"


def name_start(want: list[int], have: list[int]) -> str:
    """What a prefill of the wrong requests says about the mistake."""
    return "stops-too-early" if have == want[: len(have)] else "queue-jumping"


def overtakings(traffic: Traffic, rounds: list[list[Any]]) -> dict[int, int]:
    """uid -> by how many later arrivals it was overtaken in these rounds (they do not say when: an upper bound)."""
    order = {uid: (at, k) for k, (at, uid, *_) in enumerate(traffic.arrivals)}
    gone = {uid for _, uid, _ in traffic.aborts}
    started: list[int] = []
    for phase, uids in rounds:
        started += uids if phase == "prefill" else []
    place = {uid: k for k, uid in enumerate(started)}
    return {
        uid: sum(order[other] > order[uid] for other in started[: place.get(uid, len(started))])
        for uid in order
        if uid not in gone
    }


def crowd(small: int, *large: tuple[int, int]) -> Traffic:
    """Small requests keep coming, two every three rounds. large: (arrives before round, prompt tokens)."""
    arrivals = [plain(k, 3 * k // 2, 1 + k % 2, 3 + k % 3) for k in range(small)]
    arrivals += [plain(90 + k, at, prompt, 5) for k, (at, prompt) in enumerate(large)]
    return Traffic(12, 1, 6, 64, sorted(arrivals, key=lambda arrival: arrival[0]))


# 90 is overtaken once before 91 comes: of the two, the first has the higher count
TWO_LARGE = Traffic(
    25, 1, 6, 64,
    [plain(0, 0, 2, 9), plain(90, 1, 15, 2), plain(1, 1, 1, 9),
     plain(91, 2, 15, 2), plain(2, 2, 1, 1), plain(3, 2, 1, 1)],
)  # fmt: skip


def judge_refusals(ask: Ask) -> Result:
    """Bound 2, and a small request behind two that are refused: a third refusal would end the round, not the second."""
    rounds = [[["add", 7, 5], ["add", 8, 5], ["add", 20, 1]]]
    (started, asked, _), *_ = ask("queue", {"bound": 2, "rounds": rounds})
    if asked == 2 and not started:
        message = "bound 2: 7 and 8 do not fit, 20 behind them does. The round gave up after 2 refusals; bound + 1 = 3"
        return Result.failed("gives-up-too-early", f"{message} are allowed, and nobody has been overtaken yet")
    return Result.ok()


def check_bound_is_kept(ask: Ask, rng: Random) -> Result:
    """A large request waits, small ones keep coming: they may pass, but only so often."""
    if (result := judge_refusals(ask)).verdict != "ok":
        return result
    if (result := judge_overtaking(ask, TWO_LARGE, 2)).verdict != "ok":
        return result
    for bound in (1, 3, 6):
        for large in ([(2, 7)], [(2, 7), (2, 6)], [(2, 7), (24, 7)]):
            result = judge_overtaking(ask, crowd(30, *large), bound)
            if result.verdict != "ok":
                return result
    return Result.ok("large requests alone, together and one after the other; bounds 1, 3 and 6")


def check_order_otherwise(ask: Ask, rng: Random) -> Result:
    """Bound 0 is first come, first served; and where all fit, nobody is overtaken."""
    room = Traffic(200, 1, 3, 64, [plain(uid, uid // 3, 1 + 5 * uid % 9, 3) for uid in range(9)])
    for traffic, bound in ((crowd(8, (2, 7)), 0), (room, 0), (room, 4)):
        result = judge_overtaking(ask, traffic, bound)
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_counts_are_forgotten(ask: Ask, rng: Random) -> Result:
    """An aborted request takes its count along; so does one that has started."""
    add = ["add", 7, 5]
    small = [[["add", 20 + k, 1]] for k in range(4)]
    again = ask("queue", {"bound": 2, "rounds": [[add, *small[0]], small[1], [["discard", 7], add, *small[2]]]})
    want = [[[20], 2], [[21], 1], [[22], 2]]
    for number, (started, _, pending) in enumerate(again):
        if started != want[number][0] or pending != [7]:
            who = "request 7 was discarded, and another one has its uid" if number == 2 else "bound 2, request 7 waits"
            slug = "count-outlives-its-request" if number == 2 else "stops-too-early"
            return Result.failed(slug, f"{who}: {started} started and {pending} wait; expected {want[number][0]}, [7]")
    started_first = [[["add", 7, 2], ["add", 8, 5]], [["add", 7, 5], ["add", 20, 1]], [["add", 21, 1]]]
    starts = [started for started, _, _ in ask("queue", {"bound": 9, "rounds": started_first})]
    if starts != [[7], [20], [21]]:
        return Result.failed("queue-jumping", f"the requests start as {starts}; expected [[7], [20], [21]]")
    return judge_counts_after_a_start(ask)


def judge_counts_after_a_start(ask: Ask) -> Result:
    """A request is overtaken twice, starts, and its uid comes again."""
    rounds = [[["add", 7, 3], ["add", 20, 1]], [["add", 21, 1]], [["fits", 7]], [["add", 7, 3], ["add", 22, 1]]]
    starts = [started for started, _, _ in ask("queue", {"bound": 2, "rounds": rounds})]
    if starts[:3] != [[20], [21], [7]]:
        return Result.failed("queue-jumping", f"the requests start as {starts}; expected [[20], [21], [7], [22]]")
    if starts[3] != [22]:
        message = "request 7 was overtaken twice and started; another one with its uid may be overtaken twice again"
        return Result.failed("count-outlives-its-request", message)
    return Result.ok()


def check_long_queue(ask: Ask, rng: Random) -> Result:
    """2,000 requests that do not fit: a round must not ask about each of them."""
    for bound in (0, 3):
        actions = [["add", uid, 5] for uid in range(2000)] + [["add", 2000, 1]]
        (started, asked, pending), *_ = ask("queue", {"bound": bound, "rounds": [actions]})
        if started or len(pending) != 2001:
            return Result.failed("whole-queue-searched", f"bound {bound}: request {started} was found behind 2,000")
        if asked > bound + 1:
            message = f"bound {bound}: the adder was asked {asked} times in one round; {bound + 1} refusals are enough"
            return Result.failed("whole-queue-searched", message)
    return Result.ok()


def check_random_overtaking(ask: Ask, rng: Random) -> Result:
    """Random traffic: the rounds of the model, whatever the bound; the bound is kept; nobody dies."""
    for _ in range(12):
        traffic, bound = tight_traffic(rng), rng.choice([0, 1, 2, 5])
        waits = [[a[0] + rng.randint(0, 2), a[1], False] for a in rng.sample(traffic.arrivals, 2)]
        result = judge_overtaking(ask, traffic, bound)
        if result.verdict == "ok":
            result = judge_overtaking(ask, abort_waiting(traffic, bound, waits), bound)
        if result.verdict != "ok":
            return result
    return Result.ok("24 random schedules")


def abort_waiting(traffic: Traffic, bound: int, aborts: list[list[Any]]) -> Traffic:
    """The traffic with those of the aborts that meet a request which still waits, in the model."""
    kept: list[list[Any]] = []
    for abort in sorted(aborts):  # a later one changes nothing about those before it
        with_it = Traffic(**{**asdict(traffic), "aborts": [*kept, abort]})
        started = {uid for phase, uids in Model(with_it, bound).rounds() if phase == "prefill" for uid in uids}
        if abort[1] not in started:
            kept.append(abort)
    return Traffic(**{**asdict(traffic), "aborts": kept})
