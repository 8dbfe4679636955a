"""Who must hold which page after each batch, and what the differences say. Runs in the judge; plain Python."""

from __future__ import annotations

from typing import Any

from workbook.judge.checklib import Result
from workbook.judge.same import same
from workbook.words import counted


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
        if not same(sorted(before[key]) if key != "moves" else [], sorted(after[key])):
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
    owned = {page for pages in have.values() for page in pages}
    if stray := sorted(set(before["free"]) - set(after["free"]) - owned):
        message = f"{where}: page {stray[0]} has left the allocator, but is in no request's req.pages"
        return Result.failed("page-without-owner", f"{message}, which say {have}")
    too_many = {uid: len(have[uid]) - len(held[uid]) - missing.get(uid, 0) for uid in held}
    wrong = [uid for uid in held if too_many[uid]]
    if wrong:
        uid, size = wrong[0], args["page_size"]
        message = f"{where} (pages of {size}): request {uid} holds {counted(len(have[uid]), 'page')}"
        if uid in ends:
            message += f" for positions 0 .. {ends[uid] - 1}; expected {len(held[uid]) + missing[uid]}"
        return Result.failed(name_count(phase, uid, too_many, have, args), message)
    places = after["free"] + [page for pages in have.values() for page in pages]
    if not same(list(range(args["pages"])), sorted(places)):
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
    if not same(want, told):
        found = [[rows[uid], c, have[uid][c]] for uid, first in known.items() for c in range(first, len(held[uid]))]
        message = f"{where}: new_pages tells (row, column, page) {told}; expected {want}"
        return Result.failed(name_told(told, want, found), message)
    moved = [[page, uid] for uid in known for page in have[uid][len(held[uid]) :]]
    if not same(sorted(moved, key=str), sorted(after["moves"], key=str)):
        named = sorted(page for page, _ in after["moves"]) == sorted(page for page, _ in moved)
        diagnosis = "moves-name-the-wrong-owner" if named else "moves-not-noted"
        message = f"{where}: moves tell (page, owner) {after['moves']}; expected {moved}"
        if len(after["moves"]) > len(moved) and all(move in after["moves"] for move in moved):
            return Result.failed("moves-tell-too-much", f"{message}: only what changes hands in this batch")
        return Result.failed(diagnosis, message)
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
