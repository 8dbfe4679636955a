"""What the checks of chapter 12 share. Runs in the judge; no torch."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import TIE_GAP, Ask, OracleLike, Result, compare_streams

MOST = 8
Entry = list[Any]
"""[row, start, pages]"""


def random_entries(rng: Random, count: int, page_size: int, rows: int, pages: int, longest: int) -> list[Entry]:
    """Decode entries in different rows with pages of their own; row 0 and page 0 belong to nobody among them."""
    free = rng.sample(range(1, pages), pages - 1)
    entries: list[Entry] = []
    for row in rng.sample(range(1, rows), count):
        most = min(longest, page_size * (len(free) - (count - len(entries) - 1)))
        start = rng.randrange(1, most)
        need = start // page_size + 1
        entries.append([row, start, free[:need]])
        del free[:need]
    return entries


def told(entries: list[Entry]) -> str:
    """row:start:page of each entry."""
    return " ".join(f"{row}:{start}:{pages[-1]}" for row, start, pages in entries)


def check_what_is_written(ask: Ask, rng: Random) -> Result:
    """One step of the bundled model in a graph: it writes what its entries own, and nothing else."""
    for _ in range(6):
        size, graph = rng.choice([1, 4]), rng.choice([4, 8])
        count = rng.randint(1, graph)
        entries = random_entries(rng, count, size, 12, 24, 60 if size == 4 else 2 + 20 // count)
        args = {"entries": entries, "graph": graph, "page_size": size, "seed": rng.randrange(1000)}
        result = judge_written(ask("written", args, seconds=40.0), entries, size)
        if result.verdict != "ok":
            where = f"a graph of {graph}, page size {size}, entries (row:start:page) {told(entries)}: "
            return Result.failed(result.diagnosis, where + result.message)
    return Result.ok("6 steps")


def judge_written(got: dict[str, Any], entries: list[Entry], size: int) -> Result:
    """Changed slots, token pool cells and page-table cells beside those that the entries own."""
    slots = {pages[-1] * size + start % size for _, start, pages in entries}
    tokens = {(row, start + 1) for row, start, _ in entries}
    cells = {(row, start // size) for row, start, _ in entries}
    changed = {tuple(cell) for cell in got["tokens"]}
    if foreign := sorted(set(got["slots"]) - slots):
        pages = sorted({slot // size for slot in foreign})
        return Result.failed("writes-into-a-foreign-page", f"page {pages[0]}, slot {foreign[0]}, was written to")
    if other := sorted({tuple(cell) for cell in got["pages"]} - cells):
        return Result.failed("writes-into-a-foreign-row", f"cell {list(other[0])} of the page table was written to")
    if more := sorted(changed - tokens):
        return Result.failed("writes-into-a-foreign-row", f"cell {list(more[0])} of the token pool was written to")
    if missing := sorted(slots - set(got["slots"])):
        return Result.failed("entry-not-computed", f"slot {missing[0]} has no new keys and values")
    if left := sorted(tokens - changed):
        return Result.failed("entry-not-computed", f"cell {list(left[0])} of the token pool has no new token")
    return Result.ok()


def check_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model with graphs up to 8: Hugging Face's tokens for 1 to 9 requests, and nothing else written."""
    runs = [run for run in ask.oracle() if len(run.ids) <= 64 and len(run.output_ids) >= 14]
    told = Result.ok()
    for page_size, overlap in ((1, True), (16, False)):
        some: list[OracleLike] = rng.sample(runs, 9)
        tokens = [rng.randint(2, 14) for _ in some]
        prompts = [list(run.ids) for run in some]
        # some arrive while others run: batches of every size come by
        arrivals = [0 if i < 5 else rng.randint(0, 6) for i in range(len(some))]
        args = {"prompts": prompts, "tokens": tokens, "page_size": page_size, "overlap": overlap, "most": MOST}
        args["arrivals"] = arrivals
        got = ask("generate", {**args, "pages": 1024 // page_size, "rows": 9}, seconds=60.0)
        where = f"page size {page_size}, graphs up to {MOST}"
        result = compare_streams(some, got["tokens"], bound=TIE_GAP, note=f"With {where}.")
        if result.verdict not in ("ok", "tie"):
            return result
        short = [i for i, (ids, n) in enumerate(zip(got["tokens"], tokens, strict=True)) if len(ids) != n]
        if short:
            return Result.failed("wrong-tokens", f"request {short[0]} has not the {tokens[short[0]]} tokens asked for")
        if got["foreign"]:
            what, batch, place = got["foreign"][0]
            slug = "writes-into-a-foreign-page" if what == "slot" else "writes-into-a-foreign-row"
            message = f"{where}: batch {batch} changed {what} {place}, which none of its entries owns"
            return Result.failed(slug, message)
        told = result if told.verdict == "ok" else told  # a tie is not forgotten
    return told
