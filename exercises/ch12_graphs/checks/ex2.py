"""How the answers to exercise 12.2 are judged. Runs in the judge."""

from __future__ import annotations

from random import Random

from workbook.judge.checklib import Ask, Result

from .common import Entry, check_end_to_end, check_what_is_written, random_entries, told

__all__ = ["check_end_to_end", "check_what_is_written"]

BY_HAND: list[tuple[str, list[Entry], int]] = [
    ("one entry, nothing to fill", [[3, 7, [5, 2]]], 1),
    ("one entry in a graph of 4", [[3, 7, [5, 2]]], 4),
    ("the shortest comes last", [[1, 9, [4, 6, 7]], [2, 5, [8, 3]], [5, 2, [9]]], 4),
    ("the shortest comes first", [[6, 1, [11]], [2, 30, [1, 2, 3, 4, 5, 6, 7, 8]]], 8),
    ("the shortest is in the middle, in the largest row", [[1, 8, [2, 3, 4]], [9, 4, [7, 5]], [2, 6, [8, 6]]], 8),
    ("two are equally short", [[4, 3, [6]], [2, 12, [1, 5, 7, 9]], [7, 3, [8]]], 8),
    ("full", [[1, 3, [1]], [2, 3, [2]]], 2),
]


def check_by_hand(ask: Ask, rng: Random) -> Result:
    """Small batches, page size 4."""
    for name, entries, size in BY_HAND:
        result = judge_padded(ask, name, entries, size)
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(BY_HAND)} batches")


def judge_padded(ask: Ask, name: str, entries: list[Entry], size: int) -> Result:
    """One padded batch."""
    got = ask("pad", {"entries": entries, "size": size})["padded"]
    where = f"{name} (row:start:page {told(entries)}), size {size}"
    lengths = [len(part) for part in got]
    if lengths != [size] * 3:
        return Result.failed("wrong-length", f"{where}: rows, starts and pages have {lengths} elements")
    have = [list(entry) for entry in zip(*got, strict=True)]
    own = [[row, start, pages[-1]] for row, start, pages in entries]
    n = len(own)
    if have[:n] != own:
        if [e[:2] for e in have[:n]] == [e[:2] for e in own]:
            return Result.failed("wrong-page", f"{where}: the pages are {got[2][:n]}; expected {[e[2] for e in own]}")
        return Result.failed("entries-moved", f"{where}: the first {n} are {have[:n]}; expected {own}, in this order")
    shortest = min(start for _, start, _ in own)
    for added in have[n:]:
        if added not in own:
            return Result.failed(name_added(added, own), f"{where}: a padding entry is {added}, none of {own}")
        if added[1] != shortest:
            message = f"{where}: a padding entry reads {added[1] + 1} positions; the shortest reads {shortest + 1}"
            return Result.failed("not-the-shortest", message)
    return Result.ok()


def name_added(added: list[int], own: list[list[int]]) -> str:
    """What an added entry that is none of the batch says about the mistake."""
    if all(value in [entry[i] for entry in own] for i, value in enumerate(added)):
        return "parts-of-different-entries"
    return "an-entry-of-nobody"


def check_the_batch_stays(ask: Ask, rng: Random) -> Result:
    """Others read the batch later."""
    for name, entries, size in BY_HAND:
        if ask("pad", {"entries": entries, "size": size})["changed"]:
            return Result.failed("changes-the-batch", f"{name}: the batch is not what it was before pad")
    return Result.ok()


def check_random_batches(ask: Ask, rng: Random) -> Result:
    """Any batch into any graph that holds it."""
    for number in range(40):
        count, page_size = rng.randint(1, 12), rng.choice([1, 4, 16])
        entries = random_entries(rng, count, page_size, 40, 2000, 100)
        result = judge_padded(ask, f"random batch {number}", entries, count + rng.randint(0, 9))
        if result.verdict != "ok":
            return result
    return Result.ok("40 batches")
