"""What the checks of chapter 01 share. Runs in the judge: every expectation is computed here, in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams

Numbers = list[float]
Heads = list[list[Numbers]]  # [tokens][heads][head_dim]
ORACLE_TOKENS = 12
ORACLE_PROMPTS = 6


def flat(value: Any) -> list[Any]:
    """The numbers of nested lists in order."""
    return [number for item in value for number in flat(item)] if isinstance(value, list) else [value]


def close(got: Any, want: Any, relative: float = 1e-4) -> bool:
    """Whether two nestings of numbers are equal but for rounding."""
    have, expected = flat(got), flat(want)
    return len(have) == len(expected) and all(
        a is not None and abs(a - b) <= relative * max(1.0, abs(b)) for a, b in zip(have, expected, strict=True)
    )


def draw(rng: Random, tokens: int, heads: int, size: int) -> Heads:
    """Random heads."""
    return [[[rng.gauss(0, 1) for _ in range(size)] for _ in range(heads)] for _ in range(tokens)]


def where(got: Heads, want: Heads, relative: float = 1e-4) -> str:
    """`token 1, head 0: [0.1, 0.2], expected [0.3, 0.4]`, for the first head that differs."""
    for t, (mine, theirs) in enumerate(zip(got, want, strict=True)):
        for h, (a, b) in enumerate(zip(mine, theirs, strict=True)):
            if not close(a, b, relative):
                return f"token {t}, head {h}: {show(a)}, expected {show(b)}"
    return "no head differs"


def show(numbers: Sequence[float | None]) -> str:
    """Four numbers of a list, to three decimals."""
    shown = ["nan" if n is None else f"{n:.3f}" for n in numbers[:4]]
    return f"[{', '.join(shown)}{', ...' if len(numbers) > 4 else ''}]"


def check_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model without a cache: Hugging Face's greedy tokens."""
    prompts = rng.sample([p for p in ask.oracle() if len(p.ids) <= 64], ORACLE_PROMPTS)
    got = ask("generate", {"prompts": [list(p.ids) for p in prompts], "max_tokens": ORACLE_TOKENS}, seconds=40.0)
    for number, ids in enumerate(got):
        if len(ids) != ORACLE_TOKENS:
            return Result.failed("wrong-tokens", f"prompt {number}: {len(ids)} tokens, expected {ORACLE_TOKENS}")
    return compare_streams(prompts, got, bound=TIE_GAP)
