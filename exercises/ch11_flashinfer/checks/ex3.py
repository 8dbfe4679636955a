"""How the answers to exercise 11.3 are judged. Runs in the judge: every expectation is computed in plain Python."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result
from workbook.words import counted

from .brute import Case, Part, close, merged, partial, random_case
from .common import check_end_to_end, judge_stream
from .names import name_merge, name_partial, why

__all__ = ["check_end_to_end"]

NOTE = "Each row was read in pieces, and the pieces were merged."


def judge_form(told: str, got: dict[str, Any], shapes: list[list[int]]) -> Result:
    """Shapes, dtypes, and that the inputs are left alone."""
    if got["shapes"] != shapes:
        return Result.failed("wrong-shape", f"{told}: out and lse have the shapes {got['shapes']}; expected {shapes}")
    if got["dtypes"] != ["torch.float32"] * 2:
        return Result.failed("not-float32", f"{told}: out and lse are {got['dtypes']}; expected torch.float32")
    if got["changed"]:
        return Result.failed("inputs-changed", f"{told}: what was given has been changed")
    return Result.ok()


def judge_partial(ask: Ask, told: str, case: Case, dtype: str = "float32") -> Result:
    """One call beside the brute force."""
    got = ask("partial", {"q": case.q, "k": case.k, "v": case.v, "seen": case.seen, "dtype": dtype})
    n, heads, dim = len(case.q), len(case.q[0]), len(case.q[0][0])
    form = judge_form(told, got, [[n, heads, dim], [n, heads]])
    if form.verdict != "ok":
        return form
    want = partial(case)
    if close(want.out, got["out"]) and close(want.lse, got["lse"]):
        return Result.ok()
    sizes = f"q [{n}, {heads}, {dim}], {len(case.k)} keys of {counted(len(case.k[0]), 'head')}, seen {case.seen}"
    i, h = next((i, h) for i in range(n) for h in range(heads) if not same_head(want, got, i, h))
    expected = f"expected {want.out[i][h]}, lse {want.lse[i][h]}"
    first = f"query {i}, head {h}: {got['out'][i][h]}, lse {got['lse'][i][h]}; {expected}"
    slug = name_partial(case, got, dtype)
    return Result.failed(slug, f"{told}: partial_attention of {sizes}: {first}{why(slug)}")


def same_head(want: Part, got: dict[str, Any], i: int, h: int) -> bool:
    """Whether one head of one query is as expected."""
    return close(want.out[i][h], got["out"][i][h]) and close(want.lse[i][h], got["lse"][i][h])


def check_shared_heads(ask: Ask, rng: Random) -> Result:
    """One query that sees all keys: four heads over two, one over one, six over two, six over three."""
    for heads, kv in ((1, 1), (4, 2), (6, 2), (6, 3)):
        case = random_case(rng, 1, 5, heads, kv)
        result = judge_partial(ask, "all keys seen", case)
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_hidden_keys(ask: Ask, rng: Random) -> Result:
    """Queries that see some of the keys, each its own number of them."""
    for seen in ([3, 4, 5], [1, 1, 5], [5, 2, 1]):
        result = judge_partial(ask, "some keys hidden", random_case(rng, 3, 5, 4, 2)._replace(seen=seen))
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_how_much_they_weigh(ask: Ask, rng: Random) -> Result:
    """Equal scores, whose lse is known by heart: score + log(number of keys)."""
    for keys in (1, 4, 7):
        same_key = random_case(rng, 1, 1, 2, 1)
        case = same_key._replace(k=same_key.k * keys, v=random_case(rng, 1, keys, 2, 1).v, seen=[keys])
        result = judge_partial(ask, f"{keys} equal keys", case)
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_large_scores(ask: Ask, rng: Random) -> Result:
    """Scores of some hundreds, up and down; bfloat16, whose sums need float32."""
    for sign in (1.0, -1.0):
        case = random_case(rng, 2, 6, 4, 2)
        large = case._replace(q=[[[20.0] * 4 for _ in row] for row in case.q], k=shifted(case.k, 8.0 * sign))
        result = judge_partial(ask, f"scores of about {320 * sign:.0f}", large)
        if result.verdict != "ok":
            return result
    return judge_partial(ask, "bfloat16", random_case(rng, 2, 40, 4, 2, eighths=True), "bfloat16")


def shifted(values: list[list[list[float]]], by: float) -> list[list[list[float]]]:
    """All numbers moved, in steps that float32 holds exactly."""
    return [[[round(x * 8) / 64 + by for x in head] for head in row] for row in values]


def judge_merge(ask: Ask, told: str, parts: list[Part]) -> Result:
    """One merge beside the brute force."""
    given = [[p.out, [[x if x > -math.inf else "-inf" for x in row] for row in p.lse]] for p in parts]
    got, want = ask("merge", {"parts": given}), merged(parts)
    n, heads, dim = len(want.out), len(want.out[0]), len(want.out[0][0])
    form = judge_form(told, got, [[n, heads, dim], [n, heads]])
    if form.verdict != "ok" or (close(want.out, got["out"]) and close(want.lse, got["lse"])):
        return form
    seen = f"out {got['out'][0][0]}, lse {got['lse'][0][0]}; expected {want.out[0][0]}, lse {want.lse[0][0]}"
    message = f"{told}: merge of {len(parts)} parts, their lse {given_lse(parts)}: query 0, head 0: {seen}"
    slug = name_merge(parts, got)
    return Result.failed(slug, message + why(slug))


def given_lse(parts: list[Part]) -> list[float]:
    """Query 0, head 0 of each part, rounded."""
    return [round(p.lse[0][0], 3) for p in parts]


def part(rng: Random, lse: float, heads: int = 2) -> Part:
    """A random result that weighs exp(lse)."""
    if lse == -math.inf:
        return Part([[[0.0] * 3] * heads], [[lse] * heads])
    return Part([[[rng.gauss(0, 1) for _ in range(3)] for _ in range(heads)]], [[lse] * heads])


def check_merging(ask: Ask, rng: Random) -> Result:
    """One part, equal parts, unequal ones, very large and very small lse."""
    for weights in ([1.5], [0.7, 0.7], [1.0, 3.0], [-2.0, 0.5, 1.0], [300.0, 301.0], [-400.0, -401.0], [0.0, 250.0]):
        result = judge_merge(ask, "made-up parts", [part(rng, lse) for lse in weights])
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_nothing_seen(ask: Ask, rng: Random) -> Result:
    """Queries that see nothing of a part, or of any."""
    result = judge_partial(ask, "nothing seen", random_case(rng, 2, 3, 2, 1)._replace(seen=[0, 2]))
    if result.verdict != "ok":
        return result
    for weights in ([-math.inf, 1.0], [1.0, -math.inf, 2.0], [-math.inf, -math.inf]):
        result = judge_merge(ask, "parts with lse -inf", [part(rng, lse) for lse in weights])
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_random_cuts(ask: Ask, rng: Random) -> Result:
    """Random rows, cut at random, in any order, merged in one go and in two: what the whole gives."""
    for _ in range(12):
        new, total = rng.randint(1, 3), rng.randint(4, 12)
        case = random_case(rng, new, total, 4, 2)._replace(seen=[total - new + i + 1 for i in range(new)])
        cuts = [0, *sorted(rng.sample(range(1, total), rng.randint(1, 3))), total]
        parts = []
        for a, b in pairwise(cuts):
            seen = [min(max(n - a, 0), b - a) for n in case.seen]
            piece = case._replace(k=case.k[a:b], v=case.v[a:b], seen=seen)
            result = judge_partial(ask, f"keys {a} .. {b - 1} of {total}", piece)
            if result.verdict != "ok":
                return result
            parts.append(partial(piece))
        rng.shuffle(parts)
        for each in (parts, [merged(parts[:2]), *parts[2:]]):
            result = judge_merge(ask, f"{total} keys cut at {cuts[1:-1]}", each)
            if result.verdict != "ok":
                return result
        if not close(merged(parts).out, partial(case).out):
            raise AssertionError("the brute force contradicts itself")
    return Result.ok("12 rows")


def check_random_streams(ask: Ask, rng: Random) -> Result:
    """Requests that come and are aborted at any time, in a small pool; the invariants after every step."""
    for size in (1, 8):
        result = judge_stream(ask, rng, NOTE, True, page_size=size, num_pages=400 // size, max_running_req=3)
        if result.verdict == "failed":
            return result
    return Result.ok("two streams of 6 requests")
