"""How the answers to exercise 05.3 are judged. Runs in the judge."""

from __future__ import annotations

from dataclasses import asdict
from random import Random
from typing import Any

from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams
from workbook.judge.drive import Traffic, drive

from .common import ORACLE_PROMPTS, ORACLE_TOKENS, WHOLE_PROMPTS, random_traffic, told


def grow_args(size: int, reqs: list[list[Any]], batches: list[list[Any]], **changed: Any) -> dict[str, Any]:
    """For probe_grow. reqs: [uid, [row, prompt tokens, positions stored]]. batches: [phase, [[uid, tokens], ...]]."""
    return {"page_size": size, "pages": 64, "warm": [], "behind": 0, "reqs": reqs, "batches": batches, **changed}


def judge_growth(name: str, args: dict[str, Any], seen: list[dict[str, Any]]) -> Result:
    """Each batch of probe_grow's answer beside what it must be; the first difference is named."""
    size, rows = args["page_size"], {uid: row for uid, (row, _, _) in args["reqs"]}
    warm = dict(args["warm"])
    stored = {uid: there or size * warm.get(uid, 0) for uid, (_, _, there) in args["reqs"]}
    fresh = {uid for uid, (_, _, there) in args["reqs"] if not there}
    for number, (phase, entries) in enumerate(args["batches"]):
        before, after = seen[number], seen[number + 1]
        held, ends = dict(before["pages"]), {uid: stored[uid] + n for uid, n in entries}
        missing = {uid: -(-end // size) - len(held[uid]) for uid, end in ends.items()}
        where = f"{name}: {phase} batch {number}"
        if sum(missing.values()) > len(before["free"]):
            result = judge_refusal(where, before, after, missing)
        else:
            result = judge_counts(where, phase, before, after, args, ends, missing)
            if result.verdict == "ok":
                known = {uid: 0 if uid in fresh else len(held[uid]) for uid in ends}
                result = judge_notes(where, before, after, rows, known)
            stored |= ends
            fresh -= ends.keys()
        if result.verdict != "ok":
            return result
    return Result.ok()


def judge_refusal(where: str, before: dict[str, Any], after: dict[str, Any], missing: dict[int, int]) -> Result:
    """A batch for which there are too few pages."""
    left, first = len(before["free"]), -1
    for uid, n in missing.items():
        left -= n
        if left < 0:
            first = uid
            break
    for key, what in (("pages", "req.pages"), ("free", "the free pages"), ("moves", "the moves")):
        if sorted(after[key]) != (sorted(before[key]) if key != "moves" else []):
            then = "OutOfPages was raised" if after["refusal"] else "nothing was raised"
            message = (
                f"{where} wants {sum(missing.values())} pages of {len(before['free'])}: {then}, but {what} changed"
            )
            return Result.failed("not-all-or-nothing", message)
    if after["refusal"] is None:
        return Result.failed("shortage-not-told", f"{where}: too few pages, but OutOfPages was not raised")
    if f"request {first} " not in after["refusal"]:
        message = f"{where}: request {first} is the first that cannot go on; OutOfPages says {after['refusal']!r}"
        return Result.failed("refusal-names-nobody", message)
    return Result.ok()


def judge_counts(
    where: str,
    phase: str,
    before: dict[str, Any],
    after: dict[str, Any],
    args: dict[str, Any],
    ends: dict[int, int],
    missing: dict[int, int],
) -> Result:
    """How many pages each request has, and that each page has one owner."""
    if after["refusal"] is not None:
        message = (
            f"{where}: {sum(missing.values())} pages are missing and {len(before['free'])} free; {after['refusal']}"
        )
        return Result.failed("fitting-batch-refused", message)
    held, have = dict(before["pages"]), dict(after["pages"])
    too_many = {uid: len(have[uid]) - len(held[uid]) - missing.get(uid, 0) for uid in held}
    wrong = [uid for uid in held if too_many[uid]]
    if wrong:
        uid, size = wrong[0], args["page_size"]
        message = f"{where} (pages of {size}): request {uid} holds {len(have[uid])} pages"
        if uid in ends:
            message += f" for positions 0 .. {ends[uid] - 1}; expected {len(held[uid]) + missing[uid]}"
        return Result.failed(name_count(phase, uid, too_many, have, args), message)
    places = after["free"] + [page for pages in have.values() for page in pages]
    if sorted(places) != list(range(args["pages"])):
        return Result.failed("page-given-twice", f"{where}: a page has two owners, or none: {after['pages']}")
    for uid, pages in held.items():
        if have[uid][: len(pages)] != pages:
            message = f"{where}: request {uid} had pages {pages}, now {have[uid]}; new pages go to the end"
            return Result.failed("pages-out-of-order", message)
    return Result.ok()


def name_count(phase: str, uid: int, too_many: dict[int, int], have: dict[int, list[int]], args: dict[str, Any]) -> str:
    """What a wrong number of pages says about the mistake."""
    off = too_many.values()
    if min(off) < 0 < max(off):
        return "page-for-the-wrong-request"
    if phase == "decode":
        return "page-one-late" if too_many[uid] < 0 else "page-one-early"
    if too_many[uid] < 0:
        return "page-missing"
    prompt = dict(args["reqs"])[uid][1]
    return "pages-for-the-whole-prompt" if len(have[uid]) == -(-prompt // args["page_size"]) else "page-too-many"


def judge_notes(
    where: str, before: dict[str, Any], after: dict[str, Any], rows: dict[int, int], known: dict[int, int]
) -> Result:
    """What the page table and the trace are told. known: uid -> how many pages of it the table knows."""
    held, have = dict(before["pages"]), dict(after["pages"])
    want = [[rows[uid], c, have[uid][c]] for uid, first in known.items() for c in range(first, len(have[uid]))]
    if len({len(part) for part in after["told"]}) != 1 or len(after["told"]) != 3:
        message = f"{where}: new_pages must be three lists of equal length, it is {after['told']}"
        return Result.failed("page-table-not-told", message)
    told = [list(entry) for entry in zip(*after["told"], strict=True)]
    if told != want:
        found = [[rows[uid], c, have[uid][c]] for uid, first in known.items() for c in range(first, len(held[uid]))]
        message = f"{where}: new_pages tells (row, column, page) {told}; expected {want}"
        return Result.failed(name_told(told, want, found), message)
    moved = [[page, uid] for uid in known for page in have[uid][len(held[uid]) :]]
    if sorted(after["moves"], key=str) != sorted(moved, key=str):
        named = sorted(page for page, _ in after["moves"]) == sorted(page for page, _ in moved)
        diagnosis = "moves-name-the-wrong-owner" if named else "moves-not-noted"
        return Result.failed(diagnosis, f"{where}: moves tell (page, owner) {after['moves']}; expected {moved}")
    return Result.ok()


def name_told(told: list[list[int]], want: list[list[int]], found: list[list[int]]) -> str:
    """What wrong page-table entries say about the mistake."""
    if sorted(told) == sorted(want):
        return "entries-out-of-order"
    if sorted(entry[2] for entry in told) == sorted(entry[2] for entry in want):
        rows = {page: row for row, _, page in want}
        right_rows = all(rows[page] == row for row, _, page in told)
        return "page-in-the-wrong-column" if right_rows else "page-for-the-wrong-request"
    if found and all(entry in told or entry in found for entry in want):
        return "found-pages-not-told"
    return "page-told-again" if all(entry in told for entry in want) else "page-table-not-told"


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
        for number, (expected, have) in enumerate(zip(want["rounds"], got["rounds"], strict=False)):
            if expected != have:
                return Result.failed("wrong-schedule", told(number, expected, have))
        if got["events"] != [list(event) for event in want["events"]]:
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
