"""What the checks of chapter 10 share: the filters as a brute force in plain Python. Runs in the judge; no torch."""

from __future__ import annotations

from random import Random

from workbook.judge.checklib import Ask, OracleLike

ORACLE_TOKENS = 12
ORACLE_PROMPTS = 5
OFF = 1 << 30


def kept(probs: list[float], top_k: int, top_p: float) -> list[int]:
    """The ids that top_k and, among these, top_p keep: the most likely first."""
    order = sorted(range(len(probs)), key=lambda i: (-probs[i], i))[:top_k]
    total, before, out = sum(probs[i] for i in order), 0.0, []
    for i in order:
        if probs[i] > 0 and (not out or top_p == 1.0 or before < top_p * total):
            out.append(i)
        before += probs[i]
    return out


def random_probs(rng: Random, size: int) -> list[float]:
    """A row that sums to 1, some of it without probability."""
    weights = [rng.expovariate(1) ** 2 * (rng.random() < 0.8) for _ in range(size)]
    weights[rng.randrange(size)] += 1.0
    return [weight / sum(weights) for weight in weights]


def safe_share(rng: Random, probs: list[float], top_k: int) -> float:
    """A top_p that is not so near to a sum of these probabilities that rounding could decide."""
    order = sorted(probs, reverse=True)[:top_k]
    sums = [sum(order[: i + 1]) / sum(order) for i in range(len(order))]
    while True:
        share = rng.uniform(0.05, 0.99)
        if all(abs(share - each) > 1e-3 for each in sums):
            return share


def oracle_prompts(ask: Ask, rng: Random) -> list[OracleLike]:
    """Some short recorded prompts."""
    return rng.sample([p for p in ask.oracle() if len(p.ids) <= 64], ORACLE_PROMPTS)
