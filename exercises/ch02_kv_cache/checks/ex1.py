"""How the answers to exercise 02.1 are judged. Runs in the judge; attention is worked out again in Python."""

from __future__ import annotations

import math
from copy import deepcopy
from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result

from .common import check_end_to_end, numbers, same

LAYERS, ROWS, MAX_LEN = 2, 3, 10
HEADS, KV_HEADS, DIM = 4, 2, 4


def new_call(rng: Random, layer: int, *entries: tuple[int, int, int]) -> dict[str, Any]:
    """A call of one layer, each entry (row, start, new positions)."""
    total = sum(n for _, _, n in entries)
    rows, starts, lens = (list(column) for column in zip(*entries, strict=True))
    sizes = {"q": HEADS, "k": KV_HEADS, "v": KV_HEADS}
    return {
        "layer": layer,
        "rows": rows,
        "starts": starts,
        "lens": lens,
        **{name: numbers(rng, total, heads, DIM) for name, heads in sizes.items()},
    }


def pieces(call: dict[str, Any]) -> list[tuple[int, int, int, int]]:
    """(row, start, n, where its first position lies in q) of each entry."""
    out, at = [], 0
    for row, start, n in zip(call["rows"], call["starts"], call["lens"], strict=True):
        out.append((row, start, n, at))
        at += n
    return out


def stored(cache: dict[str, Any], call: dict[str, Any]) -> dict[str, Any]:
    """The cache after a call."""
    after = {"k": deepcopy(cache["k"]), "v": deepcopy(cache["v"])}
    for row, start, n, at in pieces(call):
        for name in "kv":
            after[name][call["layer"]][row][start : start + n] = call[name][at : at + n]
    return after


def attend_one(query: Any, keys: Any, values: Any, tiled: bool = False) -> Any:
    """One position [H][D] over the keys and values [S][KV][D] that it sees -> [H][D]."""
    out = []
    for head, numbers_ in enumerate(query):
        kv = head % KV_HEADS if tiled else head // (HEADS // KV_HEADS)
        scores = [sum(a * b for a, b in zip(numbers_, key[kv], strict=True)) / math.sqrt(DIM) for key in keys]
        weights = [math.exp(score - max(scores)) for score in scores]
        total = sum(weights)
        out.append([sum(w * v[kv][d] for w, v in zip(weights, values, strict=True)) / total for d in range(DIM)])
    return out


def attended(cache: dict[str, Any], call: dict[str, Any], mistake: str = "") -> list[Any]:
    """The output of a call on a cache in which its positions are stored, or what a named mistake would make of it."""
    out: list[Any] = []
    for row, start, n, at in pieces(call):
        keys, values = (cache[name][call["layer"]][row] for name in "kv")
        if mistake == "history-ignored":
            keys, values = keys[start:], values[start:]
        if mistake == "requests-see-each-other":
            keys, values = call["k"], call["v"]
        for i in range(n):
            seen = {
                "mask-top-left": i + 1,
                "no-mask": start + n,
                "reads-beyond-the-end": MAX_LEN - n + i + 1,
                "own-position-hidden": max(start + i, 1),
                "history-ignored": i + 1,
                "requests-see-each-other": at + i + 1,
            }.get(mistake, start + i + 1)
            query = call["q"][i if mistake == "queries-of-the-first" else at + i]
            out.append(attend_one(query, keys[:seen], values[:seen], tiled=mistake == "heads-tiled"))
    return out


MISTAKES = {
    "attends-before-storing": "the new positions see what was in the cache before the new keys and values were stored",
    "mask-top-left": "query i sees keys 0 .. i; it must see 0 .. start + i: align the mask at the bottom right",
    "no-mask": "a new position sees those that come after it",
    "reads-beyond-the-end": "keys behind the new positions are read: what a former owner of the row left there",
    "own-position-hidden": "a position does not see itself",
    "history-ignored": "only the new keys are seen, not those that were kept",
    "requests-see-each-other": "the entries are taken for one sequence: they see each other's keys",
    "queries-of-the-first": "each entry is given the first entry's queries: move on by n after each",
    "heads-tiled": "query heads are matched to the wrong K/V heads: neighbours share one (0 0 1 1, not 0 1 0 1)",
}


def name_output(before: dict[str, Any], after: dict[str, Any], call: dict[str, Any], out: Any) -> tuple[str, str]:
    """The mistake that would give exactly this output, and what it means."""
    for mistake, meaning in MISTAKES.items():
        cache = before if mistake == "attends-before-storing" else after
        if same(attended(cache, call, mistake), out):
            return mistake, meaning
    return "wrong-attention", "no known mistake gives these numbers"


def name_storage(before: dict[str, Any], want: dict[str, Any], got: dict[str, Any], call: dict[str, Any]) -> str:
    """What a wrong cache says about the mistake."""
    layer, places = call["layer"], {(row, start + i) for row, start, n, _ in pieces(call) for i in range(n)}
    changed = {
        (at, row, position)
        for name in "kv"
        for at in range(LAYERS)
        for row in range(ROWS)
        for position in range(MAX_LEN)
        if not same(got[name][at][row][position], before[name][at][row][position])
    }
    if not changed:
        return "not-stored"
    if any(at != layer for at, _, _ in changed):
        return "wrong-layer"
    if {row for _, row, _ in changed} - {row for row, _ in places}:
        return "wrong-row"
    if {(row, position) for _, row, position in changed} - places:
        return "wrong-place"
    swapped = stored(before, {**call, "k": call["v"], "v": call["k"]})
    if all(same(got[name], swapped[name]) for name in "kv"):
        return "keys-and-values-swapped"
    return "not-all-stored" if len(changed) < len(places) else "wrong-values-stored"


def judge_calls(ask: Ask, rng: Random, *calls: dict[str, Any]) -> Result:
    """Cache and output after each call, the first difference named."""
    cache = {name: numbers(rng, LAYERS, ROWS, MAX_LEN, KV_HEADS, DIM) for name in "kv"}
    answers = ask("attend", {**cache, "calls": list(calls)})
    for call, seen in zip(calls, answers, strict=True):
        entries = ", ".join(f"row {row}: {n} new at {start}" for row, start, n, _ in pieces(call))
        where = f"layer {call['layer']}, {entries}"
        after = stored(cache, call)
        if any(not same(seen[name], after[name]) for name in "kv"):
            diagnosis = name_storage(cache, after, seen, call)
            return Result.failed(diagnosis, f"{where}: the cache afterwards is not as it should be")
        shape = [len(call["q"]), HEADS, DIM]
        if seen["kind"] or seen["shape"] != shape:
            what = seen["kind"] or f"shape {seen['shape']}"
            return Result.failed("wrong-shape", f"{where}: returned {what}; expected a tensor of shape {shape}")
        want = attended(after, call)
        if not same(seen["out"], want):
            row = next(i for i, (a, b) in enumerate(zip(seen["out"], want, strict=True)) if not same(a, b))
            diagnosis, meaning = name_output(cache, after, call, seen["out"])
            return Result.failed(diagnosis, f"{where}: row {row} of the output is wrong; {meaning}")
        cache = after
    return Result.ok(f"{len(calls)} calls")


def check_stores(ask: Ask, rng: Random) -> Result:
    """Are the new keys and values where they belong, and is everything else as it was?"""
    one = new_call(rng, 1, (2, 0, 3))
    return only_storage(ask, rng, one, new_call(rng, 1, (2, 3, 1)), new_call(rng, 0, (1, 4, 2), (0, 2, 3)))


def only_storage(ask: Ask, rng: Random, *calls: dict[str, Any]) -> Result:
    """judge_calls, but for the output: a wrong output is the next checks' matter."""
    result = judge_calls(ask, rng, *calls)
    about_output = result.diagnosis in {*MISTAKES, "wrong-attention", "wrong-shape"}
    return Result.ok() if about_output else result


def check_one_prompt(ask: Ask, rng: Random) -> Result:
    """A prompt on an empty row: the familiar triangle."""
    return judge_calls(ask, rng, new_call(rng, 0, (1, 0, 5)))


def check_next_token(ask: Ask, rng: Random) -> Result:
    """One query over everything that was kept, token after token."""
    steps = [new_call(rng, 0, (0, start, 1)) for start in range(4, 7)]
    return judge_calls(ask, rng, new_call(rng, 0, (0, 0, 4)), *steps)


def check_three_over_eight(ask: Ask, rng: Random) -> Result:
    """Five positions, then three more: 3 queries over 8 keys."""
    return judge_calls(ask, rng, new_call(rng, 1, (1, 0, 5)), new_call(rng, 1, (1, 5, 3)))


def check_ragged_batch(ask: Ask, rng: Random) -> Result:
    """Several sequences in one call, rows in any order, each at its own length."""
    first = new_call(rng, 0, (2, 0, 3), (0, 0, 2))
    return judge_calls(ask, rng, first, new_call(rng, 0, (0, 2, 2), (1, 0, 4), (2, 3, 1)))


def check_random_calls(ask: Ask, rng: Random) -> Result:
    """Random entries until the rows are full."""
    for _ in range(4):
        lengths, calls = [[0] * ROWS for _ in range(LAYERS)], []
        for _ in range(6):
            layer = rng.randrange(LAYERS)
            entries = []
            for row in rng.sample(range(ROWS), rng.randint(1, ROWS)):
                left = MAX_LEN - lengths[layer][row]
                if left:
                    n = rng.randint(1, min(left, 5))
                    entries.append((row, lengths[layer][row], n))
                    lengths[layer][row] += n
            if entries:
                calls.append(new_call(rng, layer, *entries))
        result = judge_calls(ask, rng, *calls)
        if result.verdict != "ok":
            return result
    return Result.ok("4 random sequences of calls")
