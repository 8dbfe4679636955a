"""How the answers to exercise 11.2 are judged. Runs in the judge."""

from __future__ import annotations

from random import Random

from workbook.judge.checklib import Ask, Result
from workbook.judge.same import same

from .common import check_end_to_end

__all__ = ["check_end_to_end"]

SMALL, LARGE, FEW = 3, 40, 5


def name_mistake(rows: list[int], counts: list[int], table: list[list[int]], got: list[int]) -> str:
    """What a wrong list looks like."""
    flat = [page for row in rows for page in table[row]]
    one_by_one = [table[row][j] for j in range(max(counts)) for row, n in zip(rows, counts, strict=True) if j < n]
    known = {
        "row-taken-for-entry": [page for i, n in enumerate(counts) for page in table[i][:n]],
        "not-cut-at-the-count": flat[: len(got)],
        "columns-before-entries": one_by_one,
        "starts-one-late": [page for row, n in zip(rows, counts, strict=True) for page in table[row][1 : n + 1]],
        "row-numbers-instead-of-pages": [row for row, n in zip(rows, counts, strict=True) for _ in range(n)],
        "columns-instead-of-pages": [j for n in counts for j in range(n)],
    }
    return next((name for name, wrong in known.items() if got == wrong), "wrong-pages")


def judge(ask: Ask, rows: list[int], counts: list[int], table: list[list[int]]) -> Result:
    """One list beside what loops give."""
    got = ask("indices", {"rows": rows, "counts": counts, "table": table})
    want = [page for row, n in zip(rows, counts, strict=True) for page in table[row][:n]]
    told = f"rows {rows}, counts {counts}"
    if not same(want, got["pages"]):
        message = f"{told}: the list is {got['pages']}; expected {want}. Row r of the table begins with 100 * r"
        return Result.failed(name_mistake(rows, counts, table, got["pages"]), message)
    if got["shape"] != [len(want)]:
        return Result.failed("wrong-shape", f"{told}: the shape is {got['shape']}; expected [{len(want)}]")
    if got["dtype"] != "torch.int32":
        return Result.failed("not-int32", f"{told}: the list is {got['dtype']}; kernels take torch.int32")
    if got["changed"]:
        return Result.failed("table-changed", f"{told}: the page table was changed")
    return Result.ok()


def numbered(rows: int, columns: int) -> list[list[int]]:
    """A table whose place (r, c) holds 100 * r + c."""
    return [[100 * row + column for column in range(columns)] for row in range(rows)]


def check_whose_pages(ask: Ask, rng: Random) -> Result:
    """Two and three entries, in rows that are neither in order nor the first."""
    table = numbered(6, 9)
    for rows, counts in (([0, 1], [2, 3]), ([4, 1], [2, 3]), ([5, 0, 3], [1, 4, 2]), ([2], [5]), ([3, 4], [9, 9])):
        result = judge(ask, rows, counts, table)
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_only_what_counts(ask: Ask, rng: Random) -> Result:
    """Short entries in a wide table, whose rest is what earlier owners left."""
    for rows, counts in (([2, 1], [1, 1]), ([0, 2, 1], [1, 30, 2])):
        result = judge(ask, rows, counts, numbered(3, 60))
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_random_tables(ask: Ask, rng: Random) -> Result:
    """Thirty random batches of 1 to 10 entries."""
    for _ in range(30):
        rows = rng.sample(range(12), rng.randint(1, 10))
        result = judge(ask, rows, [rng.randint(1, 20) for _ in rows], numbered(12, 20))
        if result.verdict != "ok":
            return result
    return Result.ok("30 batches")


def check_fixed_work(ask: Ask, rng: Random) -> Result:
    """One copy, no waiting, and as many operations for 40 entries as for 3."""
    few, many = (ask("work", {"entries": entries, "device": "cpu"}) for entries in (SMALL, LARGE))
    if many["operations"] != few["operations"]:
        message = f"{few['operations']} operations for {SMALL} entries, {many['operations']} for {LARGE}"
        return Result.failed("work-grows-with-the-batch", f"{message}: there is a loop over entries")
    if few["waits"]:
        message = f"`{few['waits'][0]}` needs something that only the device knows: the host would have to wait for it"
        return Result.failed("waits-for-the-device", message)
    if few["copies"] > 1:
        message = f"{few['copies']} copies to the device for one list; one upload is enough"
        return Result.failed("copies-too-much", message)
    if many["numbers"] > FEW * LARGE:
        message = f"{many['numbers']} numbers are sent for {LARGE} entries of 20 to 24 pages; a few for each are enough"
        return Result.failed("sends-every-page", f"{message}: which columns these are, the device can find out")
    return Result.ok(f"{few['operations']} operations, whatever the batch")


def check_on_the_device(ask: Ask, rng: Random) -> Result:
    """Are all tensors made where rows and table are?"""
    got = ask("work", {"entries": SMALL, "device": "meta"})
    if "cpu" in got["devices"] or got["raised"]:
        message = "rows and page table are on the device meta, but a tensor is made on the CPU"
        return Result.failed("device-ignored", f"{message} {got['raised']}".rstrip())
    return Result.ok()
