"""How the answers to exercise 01.2 are judged. Runs in the judge."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result

from .by_hand import MEANING, attended, mixed_up, same_vectors
from .common import Heads, check_end_to_end, close, draw, flat, where


def compare_attention(ask: Ask, rng: Random, new: int, total: int, heads: int, kv: int, size: int = 4) -> Result:
    """One attention beside the one by hand."""
    q, k, v = draw(rng, new, heads, size), draw(rng, total, kv, size), draw(rng, total, kv, size)
    seen = ask("attention", {"q": q, "k": k, "v": v})
    told = f"T={new}, S={total}, {heads} query heads on {kv} key heads"
    if seen["shape"] != [new, heads, size]:
        return Result.failed("wrong-shape", f"{told}: the shape is {seen['shape']}, expected {[new, heads, size]}")
    if seen["changed"]:
        return Result.failed("input-changed", f"{told}: {' and '.join(seen['changed'])} changed; make new tensors")
    want = attended(q, k, v)
    assert want is not None
    if close(seen["out"], want):
        return Result.ok()
    slug, meaning = name_attention(seen["out"], q, k, v)
    return Result.failed(slug, f"{told}: {where(seen['out'], want)}; {meaning}")


def neighbours(h: int, heads: int, kv: int) -> int:
    """The key head of a query head, as it must be: neighbours share one."""
    return h * kv // heads


def tiled(h: int, heads: int, kv: int) -> int:
    """A key head for every KV-th query head."""
    return h % kv


MISTAKES: list[tuple[str, str, dict[str, Any]]] = [
    ("future-visible", "every query sees every key", {"last": lambda i, new, total: total}),
    (
        "mask-aligned-top-left",
        "query i sees keys 0 .. i; it must see 0 .. S - T + i",
        {"last": lambda i, new, total: i},
    ),
    ("own-key-hidden", "a query does not see its own key", {"last": lambda i, new, total: total - new + i - 1}),
    ("next-key-visible", "a query sees one key too many", {"last": lambda i, new, total: total - new + i + 1}),
    ("heads-tiled", "query heads 0 1 2 3 use key heads 0 1 0 1, not 0 0 1 1", {"share": tiled}),
    (
        "only-the-keys-tiled",
        "query heads 0 1 2 3 use the keys of heads 0 1 0 1 and the values of 0 0 1 1; both must be 0 0 1 1",
        {"share": tiled, "share_values": neighbours},
    ),
    (
        "only-the-values-tiled",
        "query heads 0 1 2 3 use the values of heads 0 1 0 1 and the keys of 0 0 1 1; both must be 0 0 1 1",
        {"share": neighbours, "share_values": tiled},
    ),
    ("scale-missing", "the scores are not divided by the square root of D", {"scale": 1.0}),
    ("softmax-over-queries", "the weights of a key add up to 1, not those of a query", {"over_queries": True}),
    ("mask-after-softmax", "keys are hidden after the softmax: the weights no longer add up to 1", {"after": True}),
    ("mask-with-zero", "a hidden score is 0, and exp(0) is 1: it must be -inf", {"hide": lambda score: 0.0}),
]


def name_attention(got: Heads, q: Heads, k: Heads, v: Heads) -> tuple[str, str]:
    """The mistake that would give exactly this answer, and what it means."""
    size = len(q[0][0])
    scales = [("scale-without-root", "the scores are divided by D, not by its square root", {"scale": 1 / size})]
    for axis, n in (("H", len(q[0])), ("T", len(q)), ("S", len(k))):
        meaning = f"the scores are divided by the square root of {axis}, not of D"
        scales.append(("scale-of-another-axis", meaning, {"scale": n**-0.5}))
    for slug, meaning, change in [*MISTAKES, *scales]:
        wrong = attended(q, k, v, **change)
        if wrong is not None and close(got, wrong):
            return slug, meaning
    finite = [None not in flat(row) for row in got]
    right = attended(q, k, v)
    if any(close(got, mixed) for mixed in mixed_up(attended, q, k, v)) or (right and same_vectors(got, right)):
        return "axes-mixed", MEANING
    wrong = attended(q, k, v, share=tiled)
    if wrong and same_vectors(got, wrong):
        return "heads-tiled", "the query heads are split as [H/KV, KV]; neighbours share a key head: [KV, H/KV]"
    if all(finite):
        return "wrong-values", "no known mistake gives these numbers"
    if len(q) > 2 and finite == [False] * (len(q) - 1) + [True]:
        return "mask-after-softmax", "every query that must not see some key gets no number: was -inf a weight?"
    return "a-query-sees-no-key", "there is no number where a query sees no key at all"


def check_one_head(ask: Ask, rng: Random) -> Result:
    """One head over one token, then over a whole sequence: scale, mask, softmax."""
    for tokens in (1, 6):
        result = compare_attention(ask, rng, tokens, tokens, 1, 1)
        if result.diagnosis == "scale-missing":  # with one head, the square root of H is 1: ask again with three
            again = compare_attention(ask, rng, tokens, tokens, 3, 3)
            return again if again.diagnosis == "scale-of-another-axis" else result
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


def check_strong_keys(ask: Ask, rng: Random) -> Result:
    """Huge scores, the largest of a key that is still to come: whoever must not see it does not notice it."""
    huge, size = 200.0, 4
    q = [[[huge] * size], [[huge] * size]]
    k = [[[-huge] * size] for _ in range(5)] + [[[huge] * size]]  # query 0 must not see the last, query 1 may
    v = draw(rng, 6, 1, size)
    seen, want = ask("attention", {"q": q, "k": k, "v": v}), attended(q, k, v)
    assert want is not None
    if close(seen["out"], want):
        return Result.ok()
    told = f"scores of -80000 and 80000: {where(seen['out'], want)}"
    if None in flat(seen["out"]):
        message = f"{told}; leave the softmax to torch, which subtracts the largest score before exp"
        return Result.failed("softmax-overflows", message)
    message = f"{told}; a hidden key counts as soon as its score is large: hide with -inf, not with a small number"
    return Result.failed("mask-not-infinite", message)


def ask_halved(ask: Ask, rng: Random) -> tuple[dict[str, Any], Heads]:
    """The answer to a call in bfloat16, and the exact values."""
    q, k, v = draw(rng, 4, 4, 8), draw(rng, 4, 2, 8), draw(rng, 4, 2, 8)
    want = attended(q, k, v)
    assert want is not None
    return ask("attention", {"q": q, "k": k, "v": v, "dtype": "bfloat16"}), want


def check_same_dtype(ask: Ask, rng: Random) -> Result:
    """bfloat16 in, bfloat16 out, and close to the exact values."""
    seen, want = ask_halved(ask, rng)
    if seen["dtype"] != "torch.bfloat16":
        return Result.failed("dtype-changed", f"bfloat16 went in, {seen['dtype']} came out")
    if not close(seen["out"], want, 0.05):
        return Result.failed("wrong-values", f"in bfloat16: {where(seen['out'], want, 0.05)}")
    return Result.ok()


def check_softmax_in_float32(ask: Ask, rng: Random) -> Result:
    """bfloat16 in: in which dtype are softmax and scores? And was it written here at all?"""
    seen, _ = ask_halved(ask, rng)
    if seen["ready_made"]:
        message = "this calls scaled_dot_product_attention: the exercise is to write what is inside it"
        return Result.failed("calls-ready-made-attention", message)
    low = next((dtype for dtype in seen["softmax"] if dtype not in ("torch.float32", "torch.float64")), None)
    if low:
        message = f"bfloat16 went in, and softmax ran in {low}; convert the scores with .float() before it"
        return Result.failed("softmax-in-low-precision", message)
    # dot products of 512 and 514, which bfloat16 cannot tell apart
    q, k, v = [[[16.0, 1.0, 0.0, 0.0]]], [[[32.0, 0.0, 0.0, 0.0]], [[32.0, 2.0, 0.0, 0.0]]], [[[0.0] * 4], [[1.0] * 4]]
    weight = ask("attention", {"q": q, "k": k, "v": v, "dtype": "bfloat16"})["out"][0][0][0]
    if not close(weight, 1 / (1 + math.exp(-1)), 0.02):
        told = f"bfloat16 in, scores of 256 and 257: the second key has the weight {weight}, expected 0.73"
        message = f"{told}; the scores were rounded before the softmax: convert q and k, not the scores, with .float()"
        return Result.failed("scores-in-low-precision", message)
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
