"""Attention over some keys, and merging, number by number in plain Python. Runs in the judge."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

Rows = list[list[list[float]]]
"""[positions][heads][numbers]"""


class Case(NamedTuple):
    """One call of partial_attention."""

    q: Rows
    k: Rows
    v: Rows
    seen: list[int]


class Part(NamedTuple):
    """What Partial holds."""

    out: Rows
    lse: list[list[float]]


def own_group(head: int, group: int, kv: int) -> int:
    """The KV head of a query head."""
    return head // group


def partial(case: Case, share: Callable[[int, int, int], int] = own_group, scale: float | None = None) -> Part:
    """The result, query by query and head by head. share: which KV head a query head uses."""
    kv, group = len(case.k[0]), len(case.q[0]) // len(case.k[0])
    part = Part([], [])
    for query, sees in zip(case.q, case.seen, strict=True):
        done = [one_head(vector, case, share(head, group, kv), sees, scale) for head, vector in enumerate(query)]
        part.out.append([out for out, _ in done])
        part.lse.append([lse for _, lse in done])
    return part


def one_head(query: list[float], case: Case, head: int, sees: int, scale: float | None) -> tuple[list[float], float]:
    """(out, lse) of one query head over the first keys of one KV head."""
    scale = len(query) ** -0.5 if scale is None else scale
    scores = [scale * sum(map(float.__mul__, query, key[head])) for key in case.k[:sees]]
    if not scores:
        return [0.0] * len(query), -math.inf
    most = max(scores)
    weights = [math.exp(score - most) for score in scores]
    total = sum(weights)
    values = [value[head] for value in case.v[:sees]]
    out = [sum(w * x[d] for w, x in zip(weights, values, strict=True)) / total for d in range(len(query))]
    return out, most + math.log(total)


def tops(case: Case) -> list[list[float]]:
    """The largest score of each head of each query; -inf where it sees nothing."""
    kv, group = len(case.k[0]), len(case.q[0]) // len(case.k[0])

    def top(vector: list[float], head: int, sees: int) -> float:
        keys = [key[own_group(head, group, kv)] for key in case.k[:sees]]
        return max((len(vector) ** -0.5 * sum(map(float.__mul__, vector, key)) for key in keys), default=-math.inf)

    return [
        [top(vector, head, sees) for head, vector in enumerate(query)]
        for query, sees in zip(case.q, case.seen, strict=True)
    ]


def merged(parts: list[Part], weigh: Callable[[float], float] | None = None) -> Part:
    """All parts as one. weigh: another weight of a part than exp(lse)."""
    result = Part([], [])
    for i, row in enumerate(parts[0].lse):
        out, lse = [], []
        for h in range(len(row)):
            each = [p.lse[i][h] for p in parts]
            most = max(each)
            if most == -math.inf:
                out.append([0.0] * len(parts[0].out[i][h]))
                lse.append(most)
                continue
            sums = [math.exp(x - most) for x in each]
            weights = sums if weigh is None else [weigh(x) if x > -math.inf else 0.0 for x in each]
            total = sum(weights) or 1.0
            vectors = [p.out[i][h] for p in parts]
            out.append([sum(w * x[d] for w, x in zip(weights, vectors, strict=True)) / total
                        for d in range(len(vectors[0]))])  # fmt: skip
            lse.append(most + math.log(sum(sums)))
        result.out.append(out)
        result.lse.append(lse)
    return result


def close(want: Any, got: Any, off: float = 2e-4) -> bool:
    """Equal up to `off`: what float32 rounds. Infinity equals itself, text that is no number nothing."""
    if isinstance(want, list):
        same = type(got) is list and len(want) == len(got)
        return same and all(close(a, b, off) for a, b in zip(want, got, strict=True))
    if want == -math.inf:
        return bool(got == "-inf")
    return type(got) is float and math.isclose(want, got, rel_tol=off, abs_tol=off)


def random_case(rng: Random, new: int, total: int, heads: int, kv: int, eighths: bool = False) -> Case:
    """Random numbers, every key seen. eighths: numbers that bfloat16 holds exactly."""

    def rows(count: int, width: int) -> Rows:
        def number() -> float:
            x = rng.gauss(0, 1)
            return round(x * 8) / 8 if eighths else x

        return [[[number() for _ in range(4)] for _ in range(width)] for _ in range(count)]

    return Case(rows(new, heads), rows(total, kv), rows(total, kv), [total] * new)
