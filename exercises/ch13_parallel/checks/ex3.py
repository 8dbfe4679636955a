"""How the answers to exercise 13.3 are judged. Runs in the judge: plans are compared here by a second reader."""

from __future__ import annotations

import re
from random import Random
from typing import Any

from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams
from workbook.words import counted

from .common import ORACLE_TOKENS, STUCK, generated, stuck

Plan = dict[str, Any]


def a_plan() -> Plan:
    """A plan as `described` makes it."""
    return {
        "phase": "decode",
        "uids": [11, 12, 13],
        "starts": [40, 70, 90],
        "lens": [1, 1, 1],
        "rows": [20, 21, 22],
        "emits": None,
        "index": 31,
    }


def check_equal_plans(ask: Ask, rng: Random) -> Result:
    """No difference, no words; also where no rank has a batch, and where there is one rank."""
    cases = [[a_plan(), a_plan()], [a_plan()], [{"phase": None}] * 3, [a_plan() for _ in range(4)]]
    for case, text in zip(cases, ask("difference", {"cases": cases}), strict=True):
        if text:
            return Result.failed("difference-where-there-is-none", f"{len(case)} equal plans: {text!r}")
    return Result.ok()


def words(text: str) -> set[str]:
    """Numbers and names in a text."""
    return set(re.findall(r"\w+", text))


CHANGES: list[tuple[Plan, list[str]]] = [
    ({"starts": [40, 75, 90]}, ["starts", "[1]", "70", "75"]),
    ({"uids": [11, 13, 12], "rows": [20, 22, 21]}, ["uids", "[1]", "12", "13"]),
    ({"lens": [1, 1]}, ["lens", "3", "2"]),
    ({"lens": [1, 1, 1, 1]}, ["lens", "3", "4"]),
    ({"emits": [0]}, ["emits", "None", "0"]),
    ({"phase": "prefill", "uids": [5]}, ["phase", "decode", "prefill"]),
    ({"index": 32}, ["index", "31", "32"]),
    ({"starts": [41, 75, 95]}, ["starts", "[0]", "40", "41"]),
    ({"rows": [20, 21, 29]}, ["rows", "[2]", "22", "29"]),
]


def check_first_difference(ask: Ask, rng: Random) -> Result:
    """One field, several fields, lists of different length, the second and the last rank."""
    cases, wanted = [], []
    for change, told in CHANGES:
        for size, at in ((2, 1), (4, 3), (4, 1)):
            plans = [a_plan() for _ in range(size)]
            for rank in range(at, size):
                plans[rank] |= change if rank == at else {"index": 77}
            cases.append(plans)
            wanted.append([*told, str(at)])
    cases.append([a_plan(), {"phase": None}])
    wanted.append(["phase", "decode", "None", "1"])
    # rank 2 parts in an earlier field than rank 1: the rank comes first, then the field
    cases.append([a_plan(), {**a_plan(), "index": 32}, {**a_plan(), "phase": "prefill"}])
    wanted.append(["index", "31", "32", "1"])
    for case, told, text in zip(cases, wanted, ask("difference", {"cases": cases}), strict=True):
        result = judge_text(case, told, text)
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(cases)} differences")


def judge_text(case: list[Plan], told: list[str], text: str) -> Result:
    """Whether a text names what it should."""
    field, rank = told[0], told[-1]
    mine, theirs = case[0][field], case[int(rank)].get(field)
    plans = f"{field} is {mine} on rank 0 and {theirs} on rank {rank}"
    said = f"{counted(len(case), 'rank')}, {plans}: {text!r}; expected the words {', '.join(told[:-1])} and rank {rank}"
    if not text:
        return Result.failed("difference-not-seen", said)
    if rank not in words(text) and any(str(later) in words(text) for later in range(int(rank) + 1, len(case))):
        return Result.failed("not-the-first-rank", f"{said}, which is the first that differs from rank 0")
    others = [name for name in a_plan() if name != field and name in words(text)]
    if field not in words(text):
        return Result.failed("another-field-named" if others else "field-not-named", said)
    missing = [word for word in told if (word not in text if word.startswith("[") else word not in words(text))]
    if rank in missing:
        return Result.failed("rank-not-named", said)
    if missing and missing[0].startswith("["):
        return Result.failed("entry-not-named", said)
    if missing:
        return Result.failed("values-not-told", said)
    entries = {str(value) for value in (*mine, *theirs)} if "[" in "".join(told) else set()
    if more := sorted(entries - set(told) & words(text)):
        message = f"{said}; the entries {', '.join(more)} do not differ first: a batch may have hundreds"
        return Result.failed("whole-lists-told", message)
    return Result.ok()


def stream(rng: Random, count: int = 8) -> dict[str, Any]:
    """Arrivals [step, uid, prompt, tokens] and aborts [step, uid]."""
    arrivals = [
        [rng.randint(0, 20), uid, [rng.randrange(50) for _ in range(rng.randint(1, 9))], rng.randint(1, 8)]
        for uid in rng.sample(range(60), count)
    ]
    return {"arrivals": arrivals, "aborts": [[rng.randint(0, 30), arrival[1]] for arrival in rng.sample(arrivals, 2)]}


FOUR = {"arrivals": [[0, uid, [5] * 3, 6] for uid in range(4)], "pages": 64, "size": 2}


def named(what: str, got: dict[str, Any], fields: list[str]) -> Result:
    """Every rank has raised InvariantError in the same step, and says where the plans part."""
    ends = ["stuck" if one == "stuck" else one["raised"] for one in got["ranks"]]
    if "stuck" in ends and "InvariantError" in ends:
        message = (
            f"{what}: rank {ends.index('InvariantError')} raised InvariantError, rank {ends.index('stuck')} went on"
        )
        return Result.failed("difference-not-told-on-every-rank", message)
    if waiting := stuck(got["ranks"], what):
        return waiting
    if not any(ends) and got["exchanges"] != got["plans"]:
        message = f"{what}: {got['exchanges']} exchanges in {got['plans']} calls of plan; expected one in each"
        return Result.failed("not-one-exchange-a-round", message)
    for rank, one in enumerate(got["ranks"]):
        if one["raised"] != "InvariantError":
            message = f"{what}: rank {rank} {'raised ' + one['raised'] if one['raised'] else 'went on'}"
            return Result.failed("difference-not-told-on-every-rank", message)
        if not any(field in one["said"] for field in fields):
            return Result.failed("difference-not-told", f"{what}: rank {rank} says {one['said']!r}")
    steps = {one["step"] for one in got["ranks"]}
    if len(steps) > 1 or len(set(got["computed"])) > 1:
        message = (
            f"{what}: the ranks have computed {got['computed']} rounds; they must stop before the first that differs"
        )
        return Result.failed("difference-told-late", message)
    return Result.ok()


def check_named_on_every_rank(ask: Ask, rng: Random) -> Result:
    """One rank decodes in another order, or forgets a request; the first, the last, a middle one."""
    for mistake, field in (("order", "uids"), ("forgets", "uids")):
        for size, at in ((2, 1), (3, 1), (3, 2), (2, 0)):
            got = ask("schedules", {**FOUR, "size": size, "mistake": mistake, "at": at})
            what = f"rank {at} of {size} {'decodes in another order' if mistake == 'order' else 'forgets a request'}"
            result = named(what, got, [field])
            if result.verdict != "ok":
                return result
            said = got["ranks"][0]["said"]
            if "2" not in words(said):  # the prefill is round 1, and the same
                return Result.failed("round-not-named", f"{what}, in round 2: {said!r}")
    return Result.ok()


def check_idle_and_starved(ask: Ask, rng: Random) -> Result:
    """A rank without a batch, a rank without pages, all without pages."""
    got = ask("schedules", {**FOUR, "idle": 3, "at": 1})
    result = named("rank 1 has nothing to compute in round 3, rank 0 has", got, ["phase"])
    if result.verdict != "ok":
        return result
    hungry = {**FOUR, "greedy": True, "pages": 9}
    got = ask("schedules", hungry)
    what = "all ranks run out of pages in the same round"
    if waiting := stuck(got["ranks"], what):
        return waiting
    for rank, one in enumerate(got["ranks"]):
        if one["raised"] != "OutOfPages":
            message = f"{what}: rank {rank} {'raised ' + one['raised'] if one['raised'] else 'went on'}"
            return Result.failed("out-of-pages-not-told", message)
    for at in (1, 0):
        got = ask("schedules", {**hungry, "pages": 64, "few": 9, "at": at})
        result = named(f"rank {at} runs out of pages, the other does not", got, ["phase", "page"])
        if result.verdict != "ok":
            return result
    return starved_beside_idle(ask, hungry)


def starved_beside_idle(ask: Ask, hungry: dict[str, Any]) -> Result:
    """One rank runs out of pages in a round in which the other has nothing to compute."""
    last = ask("schedules", hungry)["plans"]
    for idle in (0, 1):
        got = ask("schedules", {**hungry, "idle": last, "at": idle})
        what = f"rank {1 - idle} runs out of pages in a round in which rank {idle} has no batch"
        if got["ranks"][1 - idle] != "stuck" and got["ranks"][1 - idle]["raised"] == "OutOfPages":
            message = f"{what}: nobody saw a difference, rank {1 - idle} raised OutOfPages and rank {idle} went on"
            return Result.failed("starved-looks-idle", message)
        result = named(what, got, ["phase", "page"])
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_other_errors(ask: Ask, rng: Random) -> Result:
    """Another exception than OutOfPages, on one rank: it comes out as it is."""
    for at in (1, 0):
        one = ask("schedules", {**FOUR, "stumbles": 3, "at": at})["ranks"][at]
        if one == "stuck" or one["raised"] != "StumbledError":
            ends = "waits for the others" if one == "stuck" else f"raised {one['raised']}: {one['said']!r}"
            message = f"super().plan() raises a LookupError on rank {at}, which is a bug and no lack of pages; the rank"
            return Result.failed("bug-counted-as-out-of-pages", f"{message} {ends}")
    return Result.ok()


def check_random_streams(ask: Ask, rng: Random) -> Result:
    """Random requests and aborts, overlapped or not: what one plain scheduler does, with one exchange a round."""
    for number in range(6):
        args = {**stream(rng), "pages": 40, "size": 1 + number % 3, "overlap": number % 2 == 1}
        plain = ask("schedules", {**args, "size": 1, "plain": True})["ranks"][0]
        got = ask("schedules", args)
        what = f"a random stream on {counted(args['size'], 'rank')}"
        if waiting := stuck(got["ranks"], what):
            return waiting
        for rank, one in enumerate(got["ranks"]):
            if one["raised"]:
                return Result.failed("difference-where-there-is-none", f"{what}: rank {rank} raised {one['said']!r}")
            if one["events"] != plain["events"]:
                return Result.failed("other-schedule", f"{what}: rank {rank} has other events than a plain scheduler")
        if got["exchanges"] != got["plans"]:
            message = f"{what}: {got['exchanges']} exchanges in {got['plans']} calls of plan; expected one in each"
            return Result.failed("not-one-exchange-a-round", message)
    return Result.ok("6 streams")


def check_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model on two ranks: Hugging Face's greedy tokens; and with a rank that orders its batch otherwise."""
    prompts, got = generated(ask, rng, 2, compare=True)
    if waiting := stuck(got, "two ranks"):
        return waiting
    for one in got:
        if one["raised"]:
            return Result.failed("difference-where-there-is-none", f"two equal ranks: {one['said']!r}")
        result = compare_streams(prompts, one["tokens"], bound=TIE_GAP, most=ORACLE_TOKENS, note="Two ranks.")
        if result.verdict == "failed":
            return result
    _, got = generated(ask, rng, 2, compare=True, mistake="order")
    told = [one if one == "stuck" else one["raised"] for one in got]
    if told != ["InvariantError"] * 2:
        message = f"rank 1 decodes in another order: the ranks end with {told}, expected InvariantError on both"
        return Result.failed(STUCK if "stuck" in told else "difference-not-told-on-every-rank", message)
    return Result.ok("equal ranks go on, unequal ones stop")
