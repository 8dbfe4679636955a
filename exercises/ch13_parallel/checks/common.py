"""What the checks of chapter 13 share. Runs in the judge; no torch."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import Ask, OracleLike, Result

ORACLE_TOKENS = 10
ORACLE_PROMPTS = 5
STUCK = "ranks-do-not-meet"


def oracle_prompts(ask: Ask, rng: Random) -> list[OracleLike]:
    """Some short recorded prompts."""
    return rng.sample([p for p in ask.oracle() if len(p.ids) <= 64], ORACLE_PROMPTS)


def stuck(ranks: list[Any], where: str) -> Result | None:
    """A failure when some rank waited for others in vain."""
    waiting = [rank for rank, got in enumerate(ranks) if got == "stuck"]
    if not waiting:
        return None
    message = f"{where}: rank {waiting[0]} waits for a rank that does not come; all must make the same calls"
    return Result.failed(STUCK, message)


def matrix(rng: Random, rows: int, columns: int, low: int = -4, high: int = 4) -> list[list[float]]:
    """Small integers as floats: their sums are exact in any order."""
    return [[float(rng.randint(low, high)) for _ in range(columns)] for _ in range(rows)]


def times(x: list[list[float]], weight: list[list[float]]) -> list[list[float]]:
    """x [T, in] times the transpose of weight [out, in]."""
    return [[sum(a * b for a, b in zip(row, out, strict=True)) for out in weight] for row in x]


def generated(ask: Ask, rng: Random, size: int, **options: Any) -> tuple[list[OracleLike], list[Any]]:
    """Recorded prompts and what the bundled model makes of them on `size` ranks."""
    prompts = oracle_prompts(ask, rng)
    args = {"size": size, "prompts": [list(p.ids) for p in prompts], "new": ORACLE_TOKENS, **options}
    return prompts, ask("generate", args, seconds=50.0)
