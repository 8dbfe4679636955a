"""How the answers to exercise 12.3 are judged. Runs in the judge."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result

from .common import Entry, check_end_to_end, check_what_is_written, random_entries, told

__all__ = ["check_end_to_end", "check_what_is_written"]

FOUR: list[list[Entry]] = [
    [[3, 6, [5, 2]], [7, 9, [4, 1, 8]]],
    [[3, 7, [5, 2]], [7, 10, [4, 1, 8]], [5, 3, [9]]],
    [[7, 11, [4, 1, 8]]],
    [[1, 4, [6, 3]], [2, 8, [10, 11, 12]], [5, 4, [9, 7]], [7, 12, [4, 1, 8, 13]]],
]


def check_steps_in_order(ask: Ask, rng: Random) -> Result:
    """Four batches through a graph of four, page size 4."""
    return judge_steps(ask, 4, 4, FOUR)


def check_random_steps(ask: Ask, rng: Random) -> Result:
    """Any batches that the graph holds, page sizes 1, 4 and 16."""
    for page_size in (1, 4, 16):
        size = rng.randint(2, 8)
        batches = [random_entries(rng, rng.randint(1, size), page_size, 16, 64, 9) for _ in range(8)]
        result = judge_steps(ask, size, page_size, batches)
        if result.verdict != "ok":
            return result
    return Result.ok()


def answers(entries: list[Entry], page_size: int) -> list[list[float]]:
    """[token, position, slot, positions attended to] of each entry; the token pool tells its row and column."""
    return [
        [row * 1000 + start, start, pages[-1] * page_size + start % page_size, start + 1]
        for row, start, pages in entries
    ]


def judge_steps(ask: Ask, size: int, page_size: int, batches: list[list[Entry]]) -> Result:
    """What each batch got back, and in which order things were done."""
    got = ask("steps", {"size": size, "page_size": page_size, "batches": batches})
    # the first batch comes last: what it got by mistake may be the recording's inputs or those of the batch before
    for number in [*range(1, len(batches)), 0]:
        entries, seen = batches[number], got[number]
        before = answers(batches[number - 1], page_size) if number else []
        where = f"a graph of {size}, page size {page_size}, batch {number} (row:start:page {told(entries)})"
        judged = judge_order(seen["log"], entries, size), judge_back(seen, entries, size, page_size, before)
        for found in (*judged, judge_copies(seen["copies"])):
            if found:
                return Result.failed(found[0], f"{where}: {found[1]}")
    return Result.ok(f"{len(batches)} batches")


def judge_order(log: list[Any], entries: list[Entry], size: int) -> tuple[str, str] | None:
    """One plan of the graph's size, then one launch."""
    kinds = [step[0] for step in log]
    if "launch" not in kinds:
        return "never-launched", "the graph was not launched"
    if kinds.count("launch") > 1:
        return "launched-twice", f"{kinds.count('launch')} launches; one does the step"
    if "plan" not in kinds:
        return "not-planned", "the attention was not told how far the entries read"
    if kinds[0] != "plan":
        return "plan-comes-too-late", "the attention was told after the launch"
    lens = log[0][1]
    if len(lens) != size:
        return "plan-without-padding", f"{len(lens)} starts were planned; the graph has {size} entries"
    starts = [start for _, start, _ in entries]
    if lens != starts + [min(starts)] * (size - len(starts)):
        return "wrong-plan", f"planned are starts {lens}; those of the batch are {starts}"
    return None


def judge_copies(copies: int) -> tuple[str, str] | None:
    """One copy of integers to the device."""
    if copies <= 1:
        return None
    return "copies-too-much", f"{copies} tensors were made of lists, each a copy to the device; one `upload` does it"


PARTS = ("rows", "starts", "pages")


def exchanged(got: list[float], entry: Entry, page_size: int) -> str:
    """The order in which rows, starts and pages must have come for this token, position and slot; else ""."""
    row, start, pages = entry
    given = dict(zip(PARTS, (row, start, pages[-1]), strict=True))
    for order in permutations(PARTS):
        r, s, page = (given[part] for part in order)
        if order != PARTS and got[:3] == [r * 1000 + s, s, page * page_size + s % page_size]:
            return ", ".join(order)
    return ""


def judge_back(
    seen: dict[str, Any], entries: list[Entry], size: int, page_size: int, before: list[list[float]]
) -> tuple[str, str] | None:
    """Logits, rows and columns."""
    n, lengths = len(entries), [len(seen[part]) for part in ("logits", "rows", "ends")]
    if lengths != [n] * 3:
        slug = "padding-comes-back" if size in lengths else "wrong-length"
        return slug, f"logits, rows and columns of {lengths} entries came back; the batch has {n}"
    want, have = answers(entries, page_size), seen["logits"]
    for i in range(n):
        if have[i][:3] != want[i][:3]:
            what = f"entry {i} was computed with token, position and slot {have[i][:3]}; expected {want[i][:3]}"
            if have[i][:3] == [0, 0, 0]:
                return "graph-reads-old-inputs", f"{what}. Those are the inputs at the recording"
            if i < len(before) and have[i][:3] == before[i][:3]:
                return "launched-before-the-copy", f"{what}. Those are the inputs of the batch before"
            if order := exchanged(have[i], entries[i], page_size):
                return "lists-exchanged", f"{what}. The graph reads rows, starts, pages; it was given {order}"
            return "wrong-inputs", what
        if have[i][3] != want[i][3]:
            return "wrong-plan", f"entry {i} attends to {have[i][3]:.0f} positions; expected {want[i][3]}"
    places = list(zip(seen["rows"], seen["ends"], strict=True))
    right = [(row, start + 1) for row, start, _ in entries]
    if places != right:
        return "wrong-place-for-the-token", f"the tokens go to (row, column) {places}; expected {right}"
    return None


def check_who_goes_where(ask: Ask, rng: Random) -> Result:
    """Decode batches of every size, and prefills."""
    for sizes in ([8, 4, 2, 1], [1], [6, 3], [24, 16, 8, 4, 2, 1]):
        batches = [["decode", n] for n in range(1, max(sizes) + 3)]
        batches += [["prefill", n] for n in (1, max(sizes), max(sizes) + 1)]
        rng.shuffle(batches)
        got = ask("routes", {"sizes": sizes, "batches": batches})
        for index, ((phase, n), seen) in enumerate(zip(batches, got, strict=True), 1):
            found = judge_route(sizes, phase, n, index, seen)
            if found:
                graphs = f"self.graphs has the sizes {sizes}, in this order; self._sizes is {sorted(sizes)}"
                return Result.failed(found[0], f"{graphs}; a {phase} of {n}: {found[1]}")
    return Result.ok()


def judge_route(sizes: list[int], phase: str, n: int, index: int, seen: dict[str, Any]) -> tuple[str, str] | None:
    """Where one batch went."""
    log = seen["log"]
    fitting = [size for size in sizes if size >= n] if phase == "decode" else []
    went = [step[:2] if step[0] == "graph" else step[:1] for step in log if step[0] != "choose"]
    told_log = f"it went to {went}"
    if not fitting:
        if ["engine", index] not in log or any(step[0] == "graph" for step in log):
            return "prefill-in-a-graph" if phase == "prefill" else "too-large-for-a-graph", told_log
        if log != [["engine", index]] or seen["output"] != "output of the engine":
            return "not-what-the-engine-said", f"{log}, returned: {seen['output']!r}"
        return None
    size = min(fitting)
    if [step for step in log if step[0] == "engine"]:
        return "graph-not-used", told_log
    graphs = [step for step in log if step[0] == "graph"]
    if len(graphs) != 1:
        return "run-more-than-once" if graphs else "graph-not-used", told_log
    if graphs[0][1] != size:
        return "wrong-graph", f"{told_log}; expected the graph of {size}"
    rows = list(range(n))  # as the probe makes batches: row i begins at 5 + i
    chosen = ["choose", index, [float(size)] * n, rows, [6 + row for row in rows]]
    if log != [["graph", size, index], chosen] or seen["output"] != "output of choose_from":
        return "tokens-not-chosen", f"{log}, returned: {seen['output']!r}"
    return None
