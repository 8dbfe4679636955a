"""How the answers to exercise 11.1 are judged. Runs in the judge."""

from __future__ import annotations

from random import Random

from workbook.judge.checklib import Ask, Result
from workbook.judge.same import same

from .common import check_end_to_end

__all__ = ["check_end_to_end"]

Layout = dict[str, list[int]]
Entries = list[tuple[int, int]]
"""(start, new positions) of each entry."""


def walked(totals: list[int], size: int) -> Layout:
    """The layout of entries that attend to their first positions, found by going through every position."""
    pages = [[position // size for position in range(total)] for total in totals]
    counts = [len(set(mine)) for mine in pages]
    return {
        "counts": counts,
        "ends": [sum(counts[:i]) for i in range(len(counts) + 1)],
        "last": [mine.count(mine[-1]) for mine in pages],
    }


def name_mistake(field: str, got: object, entries: Entries, size: int) -> str:
    """What a wrong list looks like."""
    totals = [start + n for start, n in entries]
    want = walked(totals, size)
    known: dict[str, dict[str, list[int]]] = {
        "counts": {
            "last-page-forgotten": [total // size for total in totals],
            "a-page-too-many": [total // size + 1 for total in totals],
            "positions-counted-as-pages": totals,
            "cached-part-forgotten": [-(-n // size) for _, n in entries],
            "new-positions-forgotten": [-(-start // size) for start, _ in entries],
        },
        "ends": {
            "ends-without-zero": want["ends"][1:],
            "ends-are-beginnings": want["ends"][:-1],
            "ends-count-positions": [sum(totals[:i]) for i in range(len(totals) + 1)],
            "ends-not-summed": [0, *want["counts"]],
        },
        "last": {
            "full-page-counted-as-empty": [total % size for total in totals],
            "offset-instead-of-count": [(total - 1) % size for total in totals],
            "free-instead-of-used": [-total % size for total in totals],
            "cached-part-forgotten": [(n - 1) % size + 1 for _, n in entries],
            "new-positions-forgotten": [(start - 1) % size + 1 for start, _ in entries],
        },
    }
    return next((name for name, wrong in known[field].items() if got == wrong), f"wrong-{field}")


def judge(ask: Ask, entries: Entries, size: int) -> Result:
    """One layout, field by field."""
    starts, lens = [start for start, _ in entries], [n for _, n in entries]
    got, want = (
        ask("layout", {"starts": starts, "lens": lens, "page_size": size}),
        walked(list(map(sum, entries)), size),
    )
    for field in ("counts", "last", "ends"):
        if not same(want[field], got[field]):
            message = f"starts {starts}, lens {lens}, page_size {size}: {field} is {got[field]}; expected {want[field]}"
            return Result.failed(name_mistake(field, got[field], entries, size), message)
    return Result.ok()


def all_of(ask: Ask, cases: list[tuple[Entries, int]]) -> Result:
    """The first that is wrong, or ok."""
    for entries, size in cases:
        result = judge(ask, entries, size)
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(cases)} batches")


def check_decode(ask: Ask, rng: Random) -> Result:
    """One new position an entry: pages of four, of one, of sixteen; a single entry."""
    some: Entries = [(4, 1), (9, 1), (2, 1)]
    return all_of(ask, [(some, 4), (some, 1), (some, 16), ([(6, 1)], 4)])


def check_full_pages(ask: Ask, rng: Random) -> Result:
    """Entries whose last page is exactly full, or has just begun."""
    return all_of(ask, [([(7, 1), (3, 1)], 4), ([(8, 1), (7, 1)], 4), ([(0, 16)], 16), ([(15, 1), (16, 1)], 16)])


def check_pieces_of_prompts(ask: Ask, rng: Random) -> Result:
    """Whole prompts, and pieces of prompts behind positions that are in the pool already."""
    return all_of(ask, [([(0, 5), (0, 9)], 4), ([(8, 6), (3, 10), (0, 1)], 4), ([(30, 2)], 16)])


def check_random_batches(ask: Ask, rng: Random) -> Result:
    """Sixty random batches of 1 to 9 entries."""
    cases = []
    for _ in range(60):
        entries = [(rng.choice([0, rng.randint(0, 90)]), rng.choice([1, rng.randint(1, 40)])) for _ in range(9)]
        cases.append((entries[: rng.randint(1, 9)], rng.choice([1, 2, 3, 8, 16, 64])))
    return all_of(ask, cases)
