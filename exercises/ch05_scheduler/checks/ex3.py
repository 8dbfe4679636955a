"""How the answers to exercise 05.3 are judged. Runs in the judge."""

from __future__ import annotations

from dataclasses import asdict
from random import Random
from typing import Any

from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams
from workbook.judge.drive import Traffic, drive
from workbook.judge.same import same

from .common import ORACLE_PROMPTS, ORACLE_TOKENS, WHOLE_PROMPTS, random_traffic, told
from .growth import grow_args, judge_growth


def alone(size: int, prompt: int, steps: int, **changed: Any) -> tuple[str, dict[str, Any]]:
    """One request that decodes by itself, its prompt stored."""
    args = grow_args(size, [[4, [2, prompt, prompt]]], [["decode", [[4, 1]]]] * steps, **changed)
    return f"a prompt of {prompt}, {steps} decode steps, pages of {size}", args


ALONE = [(4, 3), (4, 4), (4, 5), (1, 3), (2, 6)]


def check_page_by_page(ask: Ask, rng: Random) -> Result:
    """One request decodes: a page exactly when the position to be stored opens one."""
    for size, prompt in ALONE:
        name, args = alone(size, prompt, 9)
        result = judge_growth(name, args, ask("grow", args))
        if result.verdict != "ok":
            return result
    return Result.ok("prompts of 3, 4 and 5, pages of 4, 2 and 1")


def check_without_the_tokens(ask: Ask, rng: Random) -> Result:
    """The same when the last sampled token has not arrived yet: planning must not need it."""
    for size, prompt in ALONE:
        name, args = alone(size, prompt, 9, behind=1)
        result = judge_growth(name, args, ask("grow", args))
        if result.verdict != "ok":
            message = f"right when every token is there, wrong when the last one is under way: {result.message}"
            return Result.failed("looks-at-the-tokens", message)
    return Result.ok()


def check_whose_page(ask: Ask, rng: Random) -> Result:
    """Some requests of a decode batch open a page, some do not: owner, row, column and trace of each."""
    for size in (4, 2, 1, 3):
        uids = sorted(rng.sample(range(10, 90), 6))
        rows = rng.sample(range(8), 6)
        stored = [size, size + 1, 2 * size, 1, 3 * size + 1, 3 * size]
        reqs = [[uid, [row, n, n]] for uid, row, n in zip(uids, rows, stored, strict=True)]
        args = grow_args(size, reqs, [["decode", [[uid, 1] for uid in uids]]] * 7)
        result = judge_growth(f"six requests, pages of {size}", args, ask("grow", args))
        if result.verdict != "ok":
            return result
    return Result.ok("six requests, four page sizes")


PROMPTS: list[tuple[str, dict[str, Any]]] = [
    (
        "whole prompts",
        grow_args(4, [[3, [1, 7, 0]], [5, [0, 4, 0]], [6, [2, 1, 0]]], [["prefill", [[3, 7], [5, 4], [6, 1]]]]),
    ),
    ("a prompt of 10 in pieces of 3", grow_args(4, [[3, [1, 10, 0]]], [["prefill", [[3, n]]] for n in (3, 3, 3, 1)])),
    (
        "the last piece of one prompt, the first of another",
        grow_args(4, [[3, [1, 10, 6]], [5, [0, 9, 0]]], [["prefill", [[3, 4], [5, 2]]], ["prefill", [[5, 7]]]]),
    ),
    (
        "two pages are there when the account opens",
        grow_args(
            2, [[3, [1, 9, 0]], [5, [0, 3, 0]]], [["prefill", [[3, 1], [5, 3]]], ["prefill", [[3, 4]]]], warm=[[3, 2]]
        ),
    ),
]


def check_prompts_and_pieces(ask: Ask, rng: Random) -> Result:
    """Whole prompts, pieces of prompts, and a prompt some of whose pages are there already."""
    for name, args in PROMPTS:
        result = judge_growth(name, args, ask("grow", args))
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(PROMPTS)} situations")


def check_all_or_none(ask: Ask, rng: Random) -> Result:
    """Too few pages for the whole batch: OutOfPages, the name of the first that cannot go on, nothing changed."""
    three = [[3, [1, 4, 4]], [5, [0, 5, 5]], [8, [2, 8, 8]]]
    decode = ["decode", [[3, 1], [5, 1], [8, 1]]]
    prompts = [[3, [1, 7, 0]], [5, [0, 4, 0]], [8, [2, 9, 0]]]
    for name, args in (
        ("one free page, two needed", grow_args(4, three, [decode, decode], pages=6)),
        ("no free page", grow_args(4, three, [decode], pages=5)),
        ("just enough", grow_args(4, three, [decode], pages=7)),
        ("4 pages for prompts of 7, 4 and 9", grow_args(4, prompts, [["prefill", [[3, 7], [5, 4], [8, 9]]]], pages=4)),
    ):
        result = judge_growth(name, args, ask("grow", args))
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_short_pools(ask: Ask, rng: Random) -> Result:
    """Random traffic on the shadow engine, the pool often short: what happens is what happens in the reference."""
    for _ in range(12):
        traffic = random_traffic(rng)
        fewest = max(-(-(len(prompt) + most - 1) // traffic.page_size) for _, _, prompt, most, _ in traffic.arrivals)
        pages = rng.randint(fewest, max(fewest, traffic.pages))
        traffic = Traffic(**{**asdict(traffic), "pages": pages, "late": rng.random() < 0.5})
        got, want = ask("schedule", asdict(traffic)), drive(traffic, WHOLE_PROMPTS)
        if got["broken"]:
            return Result.failed("books-do-not-add-up", f"in round {got['broken'][0]}: {got['broken'][1]}")
        for number, (expected, have) in enumerate(zip(want["rounds"], [*got["rounds"], None], strict=False)):
            if not same(expected, have):
                return Result.failed("wrong-schedule", told(number, expected, have))
        if len(got["rounds"]) > len(want["rounds"]) or not same(want["events"], got["events"]):
            return Result.failed("wrong-schedule", "the rounds are right, but not what they sample or how they end")
    return Result.ok("12 random schedules")


def check_pages_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model, pages of 4 and of 1, more prompts than rows: Hugging Face's greedy tokens."""
    for size in (4, 1):
        prompts = rng.sample(list(ask.oracle()), ORACLE_PROMPTS)
        args = {"prompts": [list(p.ids) for p in prompts], "max_tokens": ORACLE_TOKENS, "slots": 3, "page_size": size}
        got = ask("generate", args, seconds=40.0)
        if [len(ids) for ids in got] != [ORACLE_TOKENS] * ORACLE_PROMPTS:
            return Result.failed("wrong-tokens", f"pages of {size}: not every request has its {ORACLE_TOKENS} tokens")
        result = compare_streams(prompts, got, bound=TIE_GAP, note=f"The page size is {size}.")
        if result.verdict != "ok":
            return result
    return result
