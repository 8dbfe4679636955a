"""How the answers to exercise 01.2 are judged. Runs in the judge."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result

from .common import Heads, check_end_to_end, close, draw, flat, where


def attended(
    q: Heads,
    k: Heads,
    v: Heads,
    *,
    last: Callable[[int, int, int], int] = lambda i, new, total: total - new + i,
    share: Callable[[int, int, int], int] = lambda h, heads, kv: h * kv // heads,
    scale: float | None = None,
    over_queries: bool = False,
) -> Heads | None:
    """Attention by hand. last: the newest key that query i sees; None when some query sees no key at all."""
    new, total, heads, kv, size = len(q), len(k), len(q[0]), len(k[0]), len(q[0][0])
    factor = size**-0.5 if scale is None else scale
    out: Heads = [[[] for _ in range(heads)] for _ in range(new)]
    for h in range(heads):
        g = share(h, heads, kv)
        scores = [[factor * sum(map(float.__mul__, q[i][h], k[s][g])) for s in range(total)] for i in range(new)]
        raised = [
            [math.exp(x) if s <= last(i, new, total) else 0.0 for s, x in enumerate(row)]
            for i, row in enumerate(scores)
        ]
        sums = [sum(row) for row in raised]
        columns = [sum(row[s] for row in raised) for s in range(total)]
        if not all(sums) or (over_queries and not all(columns)):
            return None
        for i, row in enumerate(raised):
            weights = [x / (columns[s] if over_queries else sums[i]) for s, x in enumerate(row)]
            out[i][h] = [sum(w * v[s][g][d] for s, w in enumerate(weights)) for d in range(size)]
    return out


def compare_attention(ask: Ask, rng: Random, new: int, total: int, heads: int, kv: int, size: int = 4) -> Result:
    """One attention beside the one by hand."""
    q, k, v = draw(rng, new, heads, size), draw(rng, total, kv, size), draw(rng, total, kv, size)
    seen = ask("attention", {"q": q, "k": k, "v": v})
    told = f"T={new}, S={total}, {heads} query heads on {kv} key heads"
    if seen["shape"] != [new, heads, size]:
        return Result.failed("wrong-shape", f"{told}: the shape is {seen['shape']}, expected {[new, heads, size]}")
    want = attended(q, k, v)
    assert want is not None
    if close(seen["out"], want):
        return Result.ok()
    return Result.failed(name_attention(seen["out"], q, k, v), f"{told}: {where(seen['out'], want)}")


def name_attention(got: Heads, q: Heads, k: Heads, v: Heads) -> str:
    """Which mistake gives this answer?"""
    size = len(q[0][0])
    mistakes: dict[str, dict[str, Any]] = {
        "future-visible": {"last": lambda i, new, total: total},
        "mask-aligned-top-left": {"last": lambda i, new, total: i},
        "own-key-hidden": {"last": lambda i, new, total: total - new + i - 1},
        "next-key-visible": {"last": lambda i, new, total: total - new + i + 1},
        "heads-tiled": {"share": lambda h, heads, kv: h % kv},
        "scale-missing": {"scale": 1.0},
        "scale-without-root": {"scale": 1 / size},
        "softmax-over-queries": {"over_queries": True},
    }
    for name, change in mistakes.items():
        wrong = attended(q, k, v, **change)
        if wrong is not None and close(got, wrong):
            return name
    return "a-query-sees-no-key" if None in flat(got) else "wrong-values"


def check_one_head(ask: Ask, rng: Random) -> Result:
    """One head over one token, then over a whole sequence: scale, mask, softmax."""
    for tokens in (1, 6):
        result = compare_attention(ask, rng, tokens, tokens, 1, 1)
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_grouped_heads(ask: Ask, rng: Random) -> Result:
    """Which key head does each query head use?"""
    for heads, kv in ((2, 2), (4, 2), (8, 4), (6, 1)):
        result = compare_attention(ask, rng, 5, 5, heads, kv)
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_last_positions(ask: Ask, rng: Random) -> Result:
    """Fewer queries than keys: the queries are the last positions."""
    for new, total in ((1, 7), (3, 8)):
        result = compare_attention(ask, rng, new, total, 4, 2)
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_same_dtype(ask: Ask, rng: Random) -> Result:
    """bfloat16 in, bfloat16 out, and close to the exact values."""
    q, k, v = draw(rng, 4, 4, 8), draw(rng, 4, 2, 8), draw(rng, 4, 2, 8)
    seen = ask("attention", {"q": q, "k": k, "v": v, "dtype": "bfloat16"})
    if seen["dtype"] != "torch.bfloat16":
        return Result.failed("dtype-changed", f"bfloat16 went in, {seen['dtype']} came out")
    if not close(seen["out"], attended(q, k, v), 0.05):
        return Result.failed("wrong-values", f"in bfloat16: {where(seen['out'], attended(q, k, v) or [])}")
    return Result.ok()


def check_random_shapes(ask: Ask, rng: Random) -> Result:
    """Twelve random shapes."""
    for _ in range(12):
        total, kv = rng.randint(1, 9), rng.choice([1, 2, 3])
        new, heads = rng.randint(1, total), kv * rng.choice([1, 2, 4])
        result = compare_attention(ask, rng, new, total, heads, kv, rng.choice([2, 4, 6]))
        if result.verdict != "ok":
            return result
    return Result.ok("12 shapes")
