"""What the checks of chapter 03 share. Runs in the judge; plain Python, no torch."""

from __future__ import annotations

from random import Random

from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams

TOKENS = 10
PROMPTS = 5
PIECE = 6


def check_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model, prompts in pieces side by side, then decode: Hugging Face's greedy tokens."""
    prompts = rng.sample([p for p in ask.oracle() if len(p.ids) <= 64], PROMPTS)
    args = {"prompts": [list(p.ids) for p in prompts], "max_tokens": TOKENS, "piece": PIECE}
    got = ask("serve", args, seconds=40.0)
    for number, ids in enumerate(got):
        if len(ids) != TOKENS:
            return Result.failed("wrong-tokens", f"request {number}: {len(ids)} tokens, expected {TOKENS}")
    return compare_streams(prompts, got, bound=TIE_GAP)
