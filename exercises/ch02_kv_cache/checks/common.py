"""What the checks of chapter 02 share. Runs in the judge."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams

ORACLE_TOKENS = 16
ORACLE_PROMPTS = 5


def numbers(rng: Random, *shape: int) -> Any:
    """Nested lists of random numbers."""
    if not shape:
        return round(rng.uniform(-2, 2), 3)
    return [numbers(rng, *shape[1:]) for _ in range(shape[0])]


def flat(value: Any) -> list[Any]:
    """The numbers of nested lists in order."""
    return [number for item in value for number in flat(item)] if isinstance(value, list) else [value]


def close(a: float | None, b: float | None, relative: float = 1e-4) -> bool:
    """Equal up to what another order of float32 operations may change. None, which is no number, equals nothing."""
    return a is not None and b is not None and abs(a - b) <= relative * max(1.0, abs(b))


def same(a: Any, b: Any, relative: float = 1e-4) -> bool:
    """Whether two nested lists are close everywhere."""
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(same(x, y, relative) for x, y in zip(a, b, strict=True))
    return close(a, b, relative)


def check_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model: Hugging Face's greedy tokens."""
    prompts = rng.sample([p for p in ask.oracle() if len(p.ids) <= 64], ORACLE_PROMPTS)
    got = ask("greedy", {"prompts": [list(p.ids) for p in prompts], "max_tokens": ORACLE_TOKENS}, seconds=40.0)
    for number, answer in enumerate(got):
        if len(answer) != ORACLE_TOKENS:
            return Result.failed("wrong-tokens", f"prompt {number}: {len(answer)} tokens, expected {ORACLE_TOKENS}")
    return compare_streams(prompts, got, bound=TIE_GAP)
