"""Attention over a dense cache in plain Python, and what well-known mistakes make of it. Runs in the judge."""

from __future__ import annotations

import math
from copy import deepcopy
from random import Random
from typing import Any

from .common import flat, numbers, same

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


OTHERS = ("wrong-attention", "wrong-shape", "a-query-sees-no-key", "input-changed")
"""What else may be wrong with an output."""


def name_output(before: dict[str, Any], after: dict[str, Any], call: dict[str, Any], out: Any) -> tuple[str, str]:
    """The mistake that would give exactly this output, and what it means."""
    if None in flat(out):
        return "a-query-sees-no-key", "there is no number where a query sees no key at all"
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


def tell_storage(diagnosis: str, before: dict[str, Any], want: dict[str, Any], got: dict[str, Any], call: Any) -> str:
    """The first place at which a cache is not as it should be: what it holds, and what it should."""
    name, layer, row, position = next(
        (name, layer, row, position)
        for position in range(MAX_LEN)
        for layer in range(LAYERS)
        for row in range(ROWS)
        for name in "kv"
        if not same(got[name][layer][row][position], want[name][layer][row][position])
    )
    places = [(row, start + i) for row, start, n, _ in pieces(call) for i in range(n)]

    def holds(value: Any) -> str:
        for each, word in (("k", "key"), ("v", "value")):
            for token, (its_row, its_position) in enumerate(places):
                if same(value, call[each][token]):
                    return f"the {word} of new token {token} (row {its_row}, position {its_position})"
        if same(value, before[name][layer][row][position]):
            return "what was there before"
        return "other numbers"

    has, should = (holds(cache[name][layer][row][position]) for cache in (got, want))
    told = f"{name}[layer {layer}, row {row}, position {position}] holds {has}; expected {should}"
    if diagnosis == "wrong-layer":
        return f"{told}. This call writes to no layer but {call['layer']}"
    if diagnosis == "wrong-row":
        return f"{told}. This call writes to no row but {' and '.join(map(str, call['rows']))}"
    return told
