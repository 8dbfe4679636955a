"""What the checks of chapter 04 share. Runs in the judge; plain Python, no torch."""

from __future__ import annotations

from random import Random

from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams

ORACLE_TOKENS = 12
ORACLE_PROMPTS = 4


def check_hand_driven_generation(ask: Ask, rng: Random) -> Result:
    """The bundled model through pool and page table, driven by hand: Hugging Face's greedy tokens."""
    prompts = rng.sample(list(ask.oracle()), ORACLE_PROMPTS)
    args = {"prompts": [list(p.ids) for p in prompts], "max_tokens": ORACLE_TOKENS, "page_size": rng.choice([1, 4, 7])}
    got = ask("generate", args, seconds=40.0)
    for number, ids in enumerate(got):
        if len(ids) != ORACLE_TOKENS:
            return Result.failed("wrong-tokens", f"request {number}: {len(ids)} tokens, expected {ORACLE_TOKENS}")
    note = "A wrong token here, after the checks before this one: a position is stored or read in the wrong place."
    return compare_streams(prompts, got, bound=TIE_GAP, note=note)
