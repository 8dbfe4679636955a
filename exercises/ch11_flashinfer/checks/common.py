"""What the checks of chapter 11 share: the engine end to end, and random streams. Runs in the judge; no torch."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import TIE_GAP, Ask, OracleLike, Result, compare_streams

TOKENS = 12


def oracle_prompts(ask: Ask, rng: Random, number: int) -> list[OracleLike]:
    """Some short recorded prompts."""
    return rng.sample([p for p in ask.oracle() if len(p.ids) <= 64], number)


def judge_stream(ask: Ask, rng: Random, note: str, aborts: bool, **options: Any) -> Result:
    """Some prompts through the engine, arriving at random, some of them aborted: Hugging Face's tokens."""
    prompts = oracle_prompts(ask, rng, 6)
    arrivals = [[rng.randint(0, 8), list(p.ids), TOKENS] for p in prompts]
    gone = {uid: rng.randint(2, 14) for uid in rng.sample(range(6), 2)} if aborts else {}
    blocks = rng.choice([1, 3, 8, 50])
    args = {
        "arrivals": arrivals,
        "aborts": [[at, uid] for uid, at in gone.items()],
        "blocks": blocks,
        "options": options,
    }
    got = ask("stream", args, seconds=60.0)
    if got["broken"]:
        return Result.failed("books-do-not-add-up", f"{options}, {blocks} blocks: {got['broken']}")
    for uid, ids in enumerate(got["ids"]):
        if uid not in gone and len(ids) != TOKENS:
            return Result.failed("wrong-tokens", f"request {uid} has {len(ids)} tokens; expected {TOKENS}")
    return compare_streams(prompts, got["ids"], bound=TIE_GAP, note=note)


def check_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model with attention over the layout, page sizes 1, 4 and 16: Hugging Face's tokens."""
    note = "Each step reads the pages that page_layout and page_indices name."
    for size in (1, 4, 16):
        result = judge_stream(ask, rng, note, False, page_size=size, num_pages=1024 // size)
        if result.verdict == "failed":
            return result
    return Result.ok("6 requests each at page sizes 1, 4 and 16")
