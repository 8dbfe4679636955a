"""How the answers to exercise 06.1 are judged. Runs in the judge, beside the package's own modules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from random import Random
from typing import Any

from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams
from workbook.judge.drive import EMPTY_BATCH, Traffic
from workbook.words import counted

from .common import Model, first_difference, seen_rounds, tight_traffic, told, tokens_of, up

ORACLE_TOKENS = 10

Term = Callable[[int, dict[str, int]], int]
"""(page size, one request: p prompt, m most tokens, a asked for, c stored, h pages held) -> pages."""


def right_need(size: int, r: dict[str, int]) -> int:
    """Pages for all positions that are ever stored, less those held."""
    return sum(1 for position in range(r["p"] + r["m"] - 1) if position % size == 0) - r["h"]


MISTAKES: list[tuple[str, Term]] = [
    ("only-the-prompt-promised", lambda size, r: up(r["p"], size) - r["h"]),
    ("last-token-counted", lambda size, r: up(r["p"] + r["m"], size) - r["h"]),
    ("cut-at-the-door-ignored", lambda size, r: up(r["p"] + r["a"] - 1, size) - r["h"]),
    ("held-pages-counted-again", lambda size, r: up(r["p"] + r["m"] - 1, size)),
    ("begun-page-counted-again", lambda size, r: up(r["p"] + r["m"] - 1 - r["c"], size)),
    ("tokens-for-pages", lambda size, r: r["p"] + r["m"] - 1 - r["h"]),
    ("tokens-for-pages", lambda size, r: r["p"] + r["m"] - 1 - r["c"]),
]
# p, m, a, c: in such an order that the first one that a formula gets wrong tells it from the others
NEEDS = [(5, 1, 1, 0), (5, 6, 30, 5), (4, 9, 30, 5), (6, 8, 40, 7), (3, 10, 10, 8), (9, 6, 6, 8), (5, 4, 4, 8)]


def check_what_one_needs(ask: Ask, rng: Random) -> Result:
    """Pages that one request may still ask for."""
    for size in (4, 1, 3):
        for p, m, a, c in NEEDS:
            one = {"p": p, "m": m, "a": a, "c": c, "h": up(c, size)}
            args = {"page_size": size, "prompt": p, "most": m, "asked": a, "stored": c, "held": one["h"]}
            got, want = ask("need", args), right_need(size, one)
            if type(got) is not int:
                return Result.failed("no-number", f"need returned {got!r}, not a number of pages")
            if got != want:
                stored = f"{counted(c, 'position')} stored in {counted(one['h'], 'page')} of {size}"
                who = f"a prompt of {p}, {counted(m, 'token')} at most, {stored}"
                slug = next((name for name, term in MISTAKES if term(size, one) == got), "wrong-need")
                return Result.failed(slug, f"{who}: need is {got}; expected {want}")
    return Result.ok(f"{3 * len(NEEDS)} requests")


def scene(size: int, pages: int, running: list[list[Any]], waiting: list[list[int]], **changed: Any) -> dict[str, Any]:
    """For probe_adder. running: [uid, prompt, most, asked, stored, why]. waiting: [uid, warm, prompt, most, asked]."""
    return {"page_size": size, "pages": pages, "running": running, "waiting": waiting, "budget": 4096, **changed}


def person(size: int, p: int, m: int, a: int, c: int) -> dict[str, int]:
    """A running request, for the formulas."""
    return {"p": p, "m": m, "a": a, "c": c, "h": up(c, size)}


SCENES: list[tuple[str, dict[str, Any]]] = [
    ("nobody runs", scene(4, 40, [], [])),
    ("one runs", scene(1, 100, [[1, 20, 30, 30, 25, None]], [])),
    ("three run, pages of 4", scene(4, 60, [[u, 5, 9, 9, 4 + u, None] for u in (1, 2, 3)], [])),
    ("one of two was cut at the door", scene(2, 60, [[1, 5, 9, 50, 6, None], [2, 4, 6, 6, 4, None]], [])),
    ("one of two was aborted in flight", scene(4, 60, [[1, 9, 20, 20, 12, "abort"], [2, 6, 11, 11, 7, None]], [])),
    ("one of two has half of its prompt computed", scene(4, 60, [[1, 21, 9, 9, 8, None], [2, 6, 11, 11, 7, None]], [])),
    ("one of two ended by a stop", scene(1, 80, [[1, 9, 20, 20, 12, None], [2, 6, 11, 11, 7, "stop"]], [])),
]


def check_what_is_promised(ask: Ask, rng: Random) -> Result:
    """What is left for newcomers when some requests run."""
    for name, args in SCENES:
        size, free = args["page_size"], args["pages"] - sum(up(r[4], args["page_size"]) for r in args["running"])
        alive = [person(size, *r[1:5]) for r in args["running"] if r[5] is None]
        everybody = [person(size, *r[1:5]) for r in args["running"]]
        want, got = sum(right_need(size, r) for r in alive), ask("adder", args)
        if got["tokens"] != 0:
            return Result.failed("round-not-set-up", f"{name}: a new adder has counted {got['tokens']} tokens already")
        if (seen := free - got["room"]) != want:
            slug = name_promise(size, alive, everybody, seen)
            message = f"{name}: {free} pages are free and room() is {got['room']}, so {seen} are taken as promised"
            return Result.failed(slug, f"{message}; expected {want}")
    return Result.ok(f"{len(SCENES)} situations")


def name_promise(size: int, alive: list[dict[str, int]], everybody: list[dict[str, int]], seen: int) -> str:
    """What a wrong sum of promises says about the mistake."""
    sums: list[tuple[str, int]] = [("promises-forgotten", 0)]
    sums.append(("half-way-not-promised", sum(right_need(size, r) for r in alive if r["c"] >= r["p"])))
    sums.append(("ended-still-promised", sum(right_need(size, r) for r in everybody)))
    stored = sum(r["p"] + r["m"] - 1 for r in alive)
    sums.append(("rounded-all-together", up(stored, size) - sum(r["h"] for r in alive)))
    sums.append(("rounded-all-together", up(stored - sum(r["c"] for r in alive), size)))
    sums += [(slug, sum(term(size, r) for r in alive)) for slug, term in MISTAKES]
    half = any(r["c"] < r["p"] for r in alive)
    found = (slug for slug, value in sums if value == seen and (half or slug != "half-way-not-promised"))
    return next(found, "wrong-promise")


STARTS: list[tuple[str, dict[str, Any], list[int]]] = [
    (
        "768 + 256 beside 1,024 promised, 1,800 free",
        scene(1, 2000, [[1, 200, 1025, 1025, 200, None]], [[2, 0, 768, 256, 256]]),
        [0],
    ),
    (
        "600 + 200 beside 500 promised, 1,200 free",
        scene(1, 1300, [[1, 100, 501, 501, 100, None]], [[2, 0, 600, 200, 200]]),
        [0],
    ),
    (
        "600 + 200 beside 401 promised, 1,200 free: just enough",
        scene(1, 1300, [[1, 100, 402, 402, 100, None]], [[2, 0, 600, 200, 200]]),
        [600],
    ),
    ("the whole pool", scene(4, 5, [], [[1, 0, 12, 9, 9]]), [12]),
    ("two that fit one by one, not together", scene(1, 20, [], [[1, 0, 6, 6, 6], [2, 0, 6, 6, 6]]), [6, 0]),
    ("two that fit together", scene(1, 22, [], [[1, 0, 6, 6, 6], [2, 0, 6, 6, 6]]), [6, 6]),
    ("3 pages of its prompt are there", scene(2, 12, [], [[1, 3, 9, 4, 4], [2, 0, 5, 8, 8]]), [3, 5]),
]


def check_who_starts(ask: Ask, rng: Random) -> Result:
    """Who is admitted beside those who run; the figures of the chapter."""
    for name, args, want in STARTS:
        answers = ask("adder", args)["answers"]
        got = [answer for answer, _ in answers]
        for number, (said, expected) in enumerate(zip(got, want, strict=True)):
            if said != expected:
                slug = "promised-too-much" if expected == 0 else "fitting-request-refused"
                return Result.failed(slug, f"{name}: try_add said {said} to request {number}; expected {expected}")
    return Result.ok(f"{len(STARTS)} situations")


def check_never_out_of_pages(ask: Ask, rng: Random) -> Result:
    """Random traffic in small pools: nobody dies in mid-flight, everybody starts as soon as may be."""
    for _ in range(12):
        traffic = tight_traffic(rng)
        result = judge_schedule(traffic, ask("promised", asdict(traffic)), Model(traffic).rounds())
        if result.verdict != "ok":
            return result
    return Result.ok("12 random schedules")


def judge_schedule(traffic: Traffic, got: dict[str, Any], want: list[list[Any]]) -> Result:
    """A schedule beside the model's: nobody dies, the rounds are the same, the tokens those of the oracle."""
    where = f"{traffic.pages} pages of {traffic.page_size}"
    if got["broken"]:
        slug = "empty-batch" if got["broken"][1] == EMPTY_BATCH else "books-do-not-add-up"
        return Result.failed(slug, f"in round {got['broken'][0]}: {got['broken'][1]}")
    for event, step in zip(got["events"], got["steps"], strict=True):
        if event[2] == "abort" and not traffic.aborts:
            return Result.failed("died-in-mid-flight", f"{where}: in step {step} the pool ran out under the batch")
    have = seen_rounds(got)
    if (number := first_difference(want, have)) is not None:
        expected, round_ = [*want, None][number], [*have, None][min(number, len(have))]
        starts, should = round_ and round_[0] == "prefill", expected and expected[0] == "prefill"
        early = starts and (not should or len(round_[1]) > len(expected[1]))  # type: ignore[index]
        slug = "promised-too-much" if early else "fitting-request-refused" if should else "wrong-schedule"
        return Result.failed(slug, f"{where}: {told(number, expected, round_)}")
    for _, uid, prompt, most, ignore in traffic.arrivals:
        tokens = [token for who, token, _ in got["events"] if who == uid and token is not None]
        if not traffic.aborts and tokens != tokens_of(prompt, most, ignore)[0]:
            return Result.failed("wrong-tokens", f"request {uid}: the rounds are right, its tokens {tokens} are not")
    return Result.ok()


def check_promises_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model in a pool too small for all: Hugging Face's greedy tokens, nobody lost."""
    for size in (1, 4):
        prompts = rng.sample([p for p in ask.oracle() if len(p.ids) <= 40], 5)
        largest = max(up(len(p.ids) + ORACLE_TOKENS - 1, size) for p in prompts)
        args = {"prompts": [list(p.ids) for p in prompts], "max_tokens": ORACLE_TOKENS, "page_size": size}
        got = ask("generate", {**args, "pages": 2 * largest}, seconds=50.0)
        if [len(ids) for ids in got] != [ORACLE_TOKENS] * len(prompts):
            return Result.failed("wrong-tokens", f"pages of {size}: not every request has its {ORACLE_TOKENS} tokens")
        result = compare_streams(prompts, got, bound=TIE_GAP, note=f"The page size is {size}.")
        if result.verdict != "ok":
            return result
    return result
