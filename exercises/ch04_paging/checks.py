"""How the answers are judged: chapter 04. Runs in the judge; plain Python, no torch."""

from __future__ import annotations

import re
from random import Random
from typing import Any

from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams

ORACLE_TOKENS = 12
ORACLE_PROMPTS = 4


# ---- 04.1 ----


def check_page_count(ask: Ask, rng: Random) -> Result:
    """pages_for: a page that is begun counts."""
    for size in (1, 4, 16, rng.randint(2, 40)):
        tokens = [0, 1, size - 1, size, size + 1, 7 * size, 7 * size + 1, rng.randint(1, 10**6), 2**53 + 1]
        for n, got in zip(tokens, ask("pages_for", {"page_size": size, "tokens": tokens}), strict=True):
            want = n // size + (n % size > 0)
            if type(got) is not int or got != want:
                names = {n // size: "begun-page-not-counted", n // size + 1: "full-page-counted-twice"}
                named = names.get(got, "wrong-page-count") if type(got) is int else "no-number"
                return Result.failed(named, f"pages_for({n}) with pages of {size} is {got!r}; expected {want}")
    return Result.ok()


def judge_pages(num_pages: int, steps: list[list[Any]], seen: list[dict[str, Any]]) -> Result:
    """Takes and gives beside a book of who holds what."""
    held: dict[int, list[int]] = {}
    for step, ((what, n), now) in enumerate(zip(steps, seen, strict=True)):
        out = sum(map(len, held.values()))
        who = (
            f"step {step}: {what}({n if what == 'take' else held[n]}) with {num_pages - out} of {num_pages} pages free"
        )
        if what == "give":
            del held[n]
        elif n > num_pages - out:
            result = judge_refusal(who, n, num_pages - out, now)
            if result.verdict != "ok":
                return result
        else:
            result = judge_taken(who, n, num_pages, now, held)
            if result.verdict != "ok":
                return result
            held[step] = now["pages"]
        result = judge_books(who, num_pages, now["free"], held, refused=bool(now["raised"]))
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(steps)} steps")


def judge_refusal(who: str, wanted: int, free: int, now: dict[str, Any]) -> Result:
    """More is wanted than there is."""
    if not now["raised"]:
        return Result.failed("no-error", f"{who} returned {now['pages']}; expected OutOfPages")
    if now["raised"] != "OutOfPages":
        return Result.failed("wrong-error", f"{who} raised {now['raised']}: {now['message']}; expected OutOfPages")
    if not {wanted, free} <= {int(number) for number in re.findall(r"\d+", now["message"])}:
        return Result.failed("numbers-not-named", f"{who}: the message {now['message']!r} lacks {wanted} or {free}")
    return Result.ok()


def judge_taken(who: str, wanted: int, num_pages: int, now: dict[str, Any], held: dict[int, list[int]]) -> Result:
    """Pages that were handed out: as many as wanted, page numbers, nobody else's."""
    pages = now["pages"]
    if now["raised"]:
        return Result.failed("refused-though-free", f"{who} raised {now['raised']}: {now['message']}")
    if type(pages) is not list:
        return Result.failed("no-list", f"{who} returned {pages}; expected a list of page numbers")
    if wanted == 0 and pages:
        return Result.failed("zero-takes-all", f"{who} returned {len(pages)} pages; expected none")
    others = [page for mine in held.values() for page in mine]
    if any(type(page) is not int or not 0 <= page < num_pages for page in pages):
        return Result.failed("not-a-page", f"{who} returned {pages}; pages are 0 .. {num_pages - 1}")
    if len(set(pages)) < len(pages) or set(pages) & set(others):
        return Result.failed("page-handed-out-twice", f"{who} returned {pages} while {sorted(others)} are held")
    if len(pages) != wanted:
        return Result.failed("wrong-number-of-pages", f"{who} returned {len(pages)} pages")
    return Result.ok()


def judge_books(who: str, num_pages: int, free: list[int], held: dict[int, list[int]], refused: bool) -> Result:
    """Each page is free or held, once."""
    taken = [page for pages in held.values() for page in pages]
    if sorted(free + taken) == list(range(num_pages)):
        return Result.ok()
    if refused:
        return Result.failed("refusal-took-pages", f"{who} was refused, yet {len(free)} pages are free after it")
    both, lost = sorted(set(free) & set(taken)), sorted(set(range(num_pages)) - set(free) - set(taken))
    if both:
        return Result.failed("taken-but-still-free", f"after {who}: pages {both} are held and free")
    if lost:
        return Result.failed("page-lost", f"after {who}: pages {lost} are neither held nor free")
    return Result.failed("free-list-broken", f"after {who}: the free list is {sorted(free)}")


def check_all_or_nothing(ask: Ask, rng: Random) -> Result:
    """A request for too many pages changes nothing."""
    steps: list[list[Any]] = [["take", 3], ["take", 3], ["take", 2], ["take", 1], ["give", 0], ["take", 4], ["take", 3]]
    return judge_pages(5, steps, ask("pages", {"num_pages": 5, "steps": steps}))


def check_take_nothing(ask: Ask, rng: Random) -> Result:
    """take(0), from a full pool and from an empty one."""
    steps: list[list[Any]] = [["take", 0], ["take", 4], ["take", 0], ["give", 1], ["take", 4]]
    return judge_pages(4, steps, ask("pages", {"num_pages": 4, "steps": steps}))


def check_every_page_once(ask: Ask, rng: Random) -> Result:
    """Random takes and gives: each page is free or held by one."""
    for _ in range(8):
        num_pages, held, out = rng.randint(3, 20), dict[int, int](), 0
        steps: list[list[Any]] = []
        for step in range(60):
            if held and rng.random() < 0.45:
                index = rng.choice(list(held))
                out -= held.pop(index)
                steps.append(["give", index])
                continue
            n = rng.randint(0, 6)
            if n <= num_pages - out:
                held[step], out = n, out + n
            steps.append(["take", n])
        result = judge_pages(num_pages, steps, ask("pages", {"num_pages": num_pages, "steps": steps}))
        if result.verdict != "ok":
            return result
    return Result.ok("8 random sequences")


# ---- 04.2 ----


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
            if have != want:
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
    rows, starts, tokens = args["rows"], args["starts"], args["token_pool"]
    before = args["page_table"]
    after = {**args, "page_table": [list(row) for row in before]}
    for row, column, page in zip(*args["new_pages"], strict=True):
        after["page_table"][row][column] = page
    if got["page_table"] != after["page_table"]:
        named = "new-pages-not-written" if got["page_table"] == before else "page-table-spoilt"
        return Result.failed(
            named, f"new entries (rows, columns, pages) {args['new_pages']} are not what the table has"
        )
    if got["token_pool"] != tokens:
        return Result.failed("token-pool-changed", "building the inputs changed the token pool: nothing is sampled yet")
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
        if got[name] != want:
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


# ---- all ----


def check_hand_driven_generation(ask: Ask, rng: Random) -> Result:
    """The bundled model through pool and page table, driven by hand: Hugging Face's greedy tokens."""
    prompts = rng.sample(list(ask.oracle()), ORACLE_PROMPTS)
    args = {"prompts": [list(p.ids) for p in prompts], "max_tokens": ORACLE_TOKENS, "page_size": rng.choice([1, 4, 7])}
    got = ask("generate", args, seconds=40.0)
    for number, ids in enumerate(got):
        if len(ids) != ORACLE_TOKENS:
            return Result.failed("wrong-tokens", f"request {number}: {len(ids)} tokens, expected {ORACLE_TOKENS}")
    note = "A wrong token here, after the checks before this one: a position is stored or read in the wrong place."
    return compare_streams(prompts, got, bound=TIE_GAP, note=note)
