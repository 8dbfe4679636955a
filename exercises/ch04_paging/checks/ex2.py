"""How the answers to exercise 04.2 are judged. Runs in the judge."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result
from workbook.judge.same import same

from .common import check_hand_driven_generation


FEWEST = 3
"""Operations of a decode step at least: the table is written and read, and so is the token pool."""


def random_tables(rng: Random, rows: int, length: int, size: int) -> dict[str, Any]:
    """Tables in which no two cells hold the same number."""
    columns = -(-length // size)
    pages = rng.sample(range(5, 5 + 3 * rows * columns), rows * columns)
    tokens = rng.sample(range(1000, 1000 + 2 * rows * (length + 1)), rows * (length + 1))
    return {
        "page_size": size,
        "page_table": [pages[i * columns : (i + 1) * columns] for i in range(rows)],
        "token_pool": [tokens[i * (length + 1) : (i + 1) * (length + 1)] for i in range(rows)],
    }


def slot(args: dict[str, Any], row: int, position: int) -> int:
    """Where a position is stored."""
    size = int(args["page_size"])
    return int(args["page_table"][row][position // size]) * size + position % size


def check_slots(ask: Ask, rng: Random) -> Result:
    """Positions to slots, for several page sizes."""
    for size in (4, 3, 16, 1):
        args = random_tables(rng, 3, 48, size)
        args["rows"] = [rng.randrange(3) for _ in range(40)] + [0, 1, 2, 2]
        args["positions"] = [rng.randrange(48) for _ in range(40)] + [0, size - 1, 47, 48 - size]
        got = ask("slots", args)
        for row, position, have in zip(args["rows"], args["positions"], got, strict=False):
            want = slot(args, row, position)
            if not same(want, have):
                page, offset = divmod(want, size)
                names = {
                    page: "page-taken-for-slot",
                    page * size: "offset-forgotten",
                    page + offset: "page-not-scaled",
                    position: "table-not-read",
                }
                where = f"row {row}, position {position}, pages of {size}, its page is {page}"
                return Result.failed(names.get(have, "wrong-slot"), f"{where}: slot {have}; expected {want}")
        if len(got) != len(args["rows"]):
            return Result.failed("wrong-slot", f"{len(got)} slots for {len(args['rows'])} positions")
    return Result.ok()


def judge_decode(args: dict[str, Any], got: dict[str, Any]) -> Result:
    """Every field of a decode step's inputs beside what it must be."""
    before = args["page_table"]
    after = {**args, "page_table": [list(row) for row in before]}
    for row, column, page in zip(*args["new_pages"], strict=True):
        after["page_table"][row][column] = page
    if not same(after["page_table"], got["page_table"]):
        named = "new-pages-not-written" if got["page_table"] == before else "page-table-spoilt"
        return Result.failed(
            named, f"new entries (rows, columns, pages) {args['new_pages']} are not what the table has"
        )
    if not same(args["token_pool"], got["token_pool"]):
        return Result.failed("token-pool-changed", "building the inputs changed the token pool: nothing is sampled yet")
    if got["tensors"]:
        message = f"{got['tensors'][0]} is a tensor; expected the batch's own list, which the host can read at no cost"
        return Result.failed("list-made-a-tensor", message)
    if got["no_tensors"]:
        name, kind = got["no_tensors"][0]
        message = f"{name} is a {kind}; expected a tensor on the tables' device: attention indexes with it"
        return Result.failed("tensor-left-on-the-host", message)
    if not got["whole_table"]:
        size = [len(args["page_table"]), len(args["page_table"][0])]
        message = f"page_table {got['given_table']} is not the table itself, {size}; attention picks rows and columns"
        return Result.failed("not-the-table-itself", message)
    return judge_fields(args, after, got)


def judge_fields(args: dict[str, Any], after: dict[str, Any], got: dict[str, Any]) -> Result:
    """The fields one by one; `after`: args with the page table as it must stand when the inputs are built."""
    rows, starts, tokens = args["rows"], args["starts"], args["token_pool"]
    ends = [start + 1 for start in starts]
    expected: list[tuple[str, list[int], dict[str, list[int]]]] = [
        ("positions", starts, {"positions-one-too-far": ends}),
        (
            "ids",
            [tokens[r][s] for r, s in zip(rows, starts, strict=True)],
            {
                "reads-the-token-to-come": [tokens[r][s + 1] for r, s in zip(rows, starts, strict=True)],
                "reads-the-token-before": [tokens[r][s - 1] for r, s in zip(rows, starts, strict=True)],
            },
        ),
        (
            "out_loc",
            [slot(after, r, s) for r, s in zip(rows, starts, strict=True)],
            {
                "slot-before-new-page": [slot(args, r, s) for r, s in zip(rows, starts, strict=True)],
                "stores-one-too-far": [slot(after, r, s + 1) for r, s in zip(rows, starts, strict=True)],
                "stores-over-the-last": [slot(after, r, s - 1) for r, s in zip(rows, starts, strict=True)],
            },
        ),
        ("rows", rows, {"entry-taken-for-row": list(range(len(rows)))}),
        ("kv_lens", ends, {"does-not-see-itself": starts}),
        ("emit_rows", rows, {}),
        ("emit_cols", ends, {"overwrites-its-input": starts}),
        ("starts", starts, {}),
        ("lens", [1] * len(rows), {}),
    ]
    for name, want, known in expected:
        if not same(want, got[name]):
            named = next(
                (slug for slug, value in known.items() if got[name] == value), f"wrong-{name.replace('_', '-')}"
            )
            return Result.failed(named, f"starts {starts}, rows {rows}: {name} is {got[name]}; expected {want}")
    if got["last"] is not None:
        return Result.failed("last-in-a-decode-step", f"last is {got['last']}; in a decode step it is None: all sample")
    return Result.ok()


def decode_args(rng: Random, size: int, rows: int, starts: list[int]) -> dict[str, Any]:
    """A decode step; whoever opens a page gets a new one."""
    args = random_tables(rng, rows, 24, size)
    args["rows"], args["starts"] = rng.sample(range(rows), len(starts)), starts
    opens = [(row, start // size) for row, start in zip(args["rows"], starts, strict=True) if start % size == 0]
    new = rng.sample(range(2000, 3000), len(opens))
    args["new_pages"] = [[row for row, _ in opens], [column for _, column in opens], new]
    return args


def check_decode_step(ask: Ask, rng: Random) -> Result:
    """Nobody needs a new page; one request is alone."""
    for size, starts in ((4, [5, 2, 7]), (4, [3]), (3, [8, 1, 11, 4]), (16, [9, 17])):
        args = decode_args(rng, size, 5, starts)
        result = judge_decode(args, ask("decode", args))
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_new_pages_first(ask: Ask, rng: Random) -> Result:
    """Some requests open a page in this step, or all do."""
    for size, starts in ((4, [4, 3, 8]), (4, [12]), (1, [5, 2, 9]), (8, [8, 16])):
        args = decode_args(rng, size, 5, starts)
        result = judge_decode(args, ask("decode", args))
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_fixed_work(ask: Ask, rng: Random) -> Result:
    """One copy to the device, no waiting for it, and as many operations for 40 rows as for 3."""
    for size in (4, 1):
        few, many = (ask("work", {"page_size": size, "rows": rows}) for rows in (3, 40))
        told = f"a decode step, pages of {size}"
        if few["waits"]:
            message = f"{told}: `{few['waits'][0]}` needs values that are on the device; the batch's own lists are here"
            return Result.failed("waits-for-the-device", message)
        if few["copies"] > 1:
            message = f"{told}: {few['copies']} copies to the device; one upload can carry all lists"
            return Result.failed("one-copy-a-list", message)
        if "cpu" in few["devices"]:
            message = f"{told}: the tables are on another device, but a tensor is made on the CPU"
            return Result.failed("device-ignored", message)
        if few["raised"] or not few["built"] or few["operations"] < FEWEST:
            why = few["raised"] or f"{few['operations']} operations" + ("" if few["built"] else " and no StepInputs")
            message = f"{told} with tables on another device (meta, where nothing has contents): {why}"
            return Result.failed("fails-on-another-device", message)
        if few["operations"] != many["operations"]:
            message = (
                f"{told}: {few['operations']} operations for 3 rows, {many['operations']} for 40: a loop over rows"
            )
            return Result.failed("work-grows-with-the-batch", message)
        if many["lists"]:
            message = f"{told}: {many['lists'][0]} is another list than the batch's; expected that very list"
            return Result.failed("list-made-anew", f"{message}, which costs nothing")
    return Result.ok()


def check_random_steps(ask: Ask, rng: Random) -> Result:
    """Random rows, lengths and page sizes."""
    for _ in range(20):
        rows = rng.randint(1, 8)
        starts = [rng.randint(1, 22) for _ in range(rng.randint(1, rows))]
        args = decode_args(rng, rng.choice([1, 2, 3, 4, 5, 8, 16]), rows, starts)
        result = judge_decode(args, ask("decode", args))
        if result.verdict != "ok":
            return result
    return Result.ok("20 random steps")
