"""What a wrong answer to exercise 11.3 looks like. Runs in the judge."""

from __future__ import annotations

import math
from typing import Any

from .brute import Case, Part, close, merged, partial, tops


WHY = {
    "scores-overflow": "exp of a score above 88 is infinite in float32: take the largest score off before exp",
    "lse-overflows": "exp above 88 is infinite in float32: take the maximum off before exp, add it to the logarithm",
    "weights-overflow": "exp of an lse above 88 is infinite in float32: weigh by exp of its distance to the largest",
    "lse-without-the-maximum": "the maximum was taken off before exp, and not added to the logarithm again",
    "computed-in-16-bits": "near, but rounded to 16 bits on the way: make q, k and v float32 before the first product",
}


def why(slug: str) -> str:
    """A sentence more about a mistake, or nothing."""
    return f". {WHY[slug]}" if slug in WHY else ""


def name_partial(case: Case, got: dict[str, Any], dtype: str) -> str:
    """What a wrong result looks like."""
    want = partial(case)
    if dtype == "bfloat16" and close(want.out, got["out"], 0.1) and close(want.lse, got["lse"], 0.1):
        return "computed-in-16-bits"
    known = {
        "heads-interleaved": partial(case, share=lambda head, group, kv: head % kv),
        "not-scaled": partial(case, scale=1.0),
        "scaled-without-root": partial(case, scale=1.0 / len(case.q[0][0])),
        "nothing-hidden": partial(case._replace(seen=[len(case.k)] * len(case.q))),
        "own-key-hidden": partial(case._replace(seen=[max(0, n - 1) for n in case.seen])),
        "sees-one-too-many": partial(case._replace(seen=[min(len(case.k), n + 1) for n in case.seen])),
        "same-for-all-queries": partial(case._replace(seen=[case.seen[0]] * len(case.q))),
    }
    if "nan" in repr(got["out"]) + repr(got["lse"]):
        return "no-number-where-nothing-is-seen" if 0 in case.seen else "scores-overflow"
    if close(want.out, got["out"]):
        return name_lse(want.lse, got["lse"], tops(case))
    for name, wrong in known.items():
        if close(wrong.out, got["out"]):
            return name
    return "scores-overflow" if "'inf'" in repr(got["out"]) + repr(got["lse"]) else "wrong-attention"


def name_lse(want: list[list[float]], got: list[list[Any]], most: list[list[float]]) -> str:
    """What a wrong lse beside a right result looks like. most: the largest score of each head of each query."""
    less = [[x - y if y > -math.inf else x for x, y in zip(a, b, strict=True)] for a, b in zip(want, most, strict=True)]
    if close(less, got):
        return "lse-without-the-maximum"

    def of(change: Any) -> list[list[float]]:
        return [[change(x) for x in row] for row in want]

    if close(of(lambda x: x / math.log(2)), got):
        return "logarithm-to-base-2"
    if close(of(math.exp), got):
        return "sum-without-logarithm"
    return "lse-overflows" if "inf" in repr(got) else "wrong-lse"


def name_merge(parts: list[Part], got: dict[str, Any]) -> str:
    """What a wrong merge looks like."""
    if "nan" in repr(got["out"]) + repr(got["lse"]):
        return "no-number-where-nothing-is-seen" if "-inf" in repr([p.lse for p in parts]) else "weights-overflow"
    queries, heads = range(len(parts[0].lse)), range(len(parts[0].lse[0]))
    if close(merged(parts).out, got["out"]):
        rows = [[[p.lse[i][h] for p in parts] for h in heads] for i in queries]
        if close([[sum(x) for x in row] for row in rows], got["lse"]):
            return "lse-added-up"
        if close([[max(x) for x in row] for row in rows], got["lse"]):
            return "lse-of-the-largest-part"
        return "lse-overflows" if "inf" in repr(got["lse"]) else "wrong-lse"
    if close(merged(parts, weigh=lambda lse: 1.0).out, got["out"]):
        return "parts-averaged"
    if close(merged(parts, weigh=lambda lse: lse).out, got["out"]):
        return "weighed-by-the-logarithm"
    numbers = range(len(parts[0].out[0][0]))
    added = [[[sum(p.out[i][h][d] for p in parts) for d in numbers] for h in heads] for i in queries]
    return "parts-added-up" if close(added, got["out"]) else "wrong-merge"
