"""How seeds and counters are judged, for exercise 10.2. Runs in the judge; plain Python."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import Ask, ProbeRaised, Result

Entry = list[Any]  # params, prompt tokens, first position computed, how many
WIDE = 100_000
"""Equally likely tokens, so many that two equal ones are hardly ever chance."""

MANY = 1100
"""Entries of a batch that is larger than any number by which its index might be multiplied."""


def hot(**changed: Any) -> dict[str, Any]:
    """Parameters of a request that samples."""
    return {"temperature": 1.0, **changed}


def whole(params: dict[str, Any], prompt: int = 1) -> Entry:
    """An entry that computes all of its prompt."""
    return [params, prompt, 0, prompt]


def check_seeds(ask: Ask, rng: Random) -> Result:
    """One seed, one position: the same token however it comes about; another position, another number."""
    seed, end = rng.randrange(1 << 62), 9
    mine, other = hot(seed=seed), [hot(), 5, 0, 5]
    ways: list[tuple[str, str, int, list[Entry]]] = [
        ("the prompt in one piece, alone", "", 0, [whole(mine, end)]),
        ("in another row", "seed-depends-on-the-batch", 3, [other, other, other, whole(mine, end)]),
        ("behind a piece that emits nothing", "entry-and-row-confused", 1, [other, [hot(), 9, 0, 4], whole(mine, end)]),
        ("the last piece of the prompt", "seed-depends-on-the-pieces", 0, [[mine, end, end - 2, 2]]),
        ("a seed with the same 64 bits", "seed-not-cut-to-64-bits", 0, [whole(hot(seed=seed - (1 << 64)), end)]),
    ]
    batches = [{"index": i + 1, "entries": entries} for i, (*_, entries) in enumerate(ways)]
    decode = {"index": 9, "phase": "decode", "entries": [[mine, 3, end - 1, 1]]}
    seen = ask("sampler", {"entropy": 3, "logits": WIDE, "batches": [*batches, decode]})
    first = seen[0]["tokens"][0]
    for (way, diagnosis, row, _), got in zip(ways[1:], seen[1:-1], strict=True):
        if got["tokens"][row] != first:
            message = f"the token at position {end} of a request with a seed: {first} when {ways[0][0]}"
            return Result.failed(diagnosis, f"{message}; {got['tokens'][row]} as: {way}")
    if seen[-1]["tokens"][0] != first:
        message = f"position {end}: {first} at the end of a prefill, {seen[-1]['tokens'][0]} in a decode batch"
        return Result.failed("seed-depends-on-the-pieces", message)
    decodes = [
        {"index": 1, "phase": "decode", "entries": [[mine, 3, at, 1], [hot(seed=seed + 1), 3, at, 1]]}
        for at in range(3, 15)
    ]
    tokens = [one["tokens"] for one in ask("sampler", {"entropy": 3, "logits": WIDE, "batches": decodes})]
    if len({mine for mine, _ in tokens}) < 10:
        message = f"twelve steps of a seeded request: tokens {[mine for mine, _ in tokens]}; the number must move on"
        return Result.failed("same-number-each-step", message)
    if sum(a == b for a, b in tokens) > 2:
        return Result.failed("seed-ignored", "two requests with different seeds get the same tokens")
    again = ask("sampler", {"entropy": 4, "logits": WIDE, "batches": decodes})
    if [one["tokens"] for one in again] != tokens:
        return Result.failed("seed-ignored", "a request with a seed got other tokens on an engine with other entropy")
    return judge_seed_zero(ask)


def judge_seed_zero(ask: Ask) -> Result:
    """0 is a seed like any other."""
    batches = [{"index": index, "entries": [whole(hot(seed=0))]} for index in (1, 2, 3)]
    tokens = [
        [one["tokens"][0] for one in ask("sampler", {"entropy": entropy, "logits": WIDE, "batches": batches})]
        for entropy in (3, 4)
    ]
    if len({token for run in tokens for token in run}) > 1:
        message = f"a request with seed 0, three times the same position: tokens {tokens[0]}, on another engine"
        message += f" {tokens[1]}; 0 is a seed like any other, and only None is none"
        return Result.failed("seed-zero-ignored", message)
    return Result.ok()


def check_without_a_seed(ask: Ask, rng: Random) -> Result:
    """Without a seed no two tokens of an engine share a number, and two engines share none."""
    # two requests that are equal in everything but their row
    batches = [{"index": i + 1, "entries": [whole(hot())] * 6} for i in range(6)]
    seen = [one["tokens"] for one in ask("sampler", {"entropy": 3, "logits": WIDE, "batches": batches})]
    if len(set(seen[0])) < 5:
        message = f"six equal requests in one batch: tokens {seen[0]} of {WIDE} equally likely ones"
        return Result.failed("unseeded-rows-alike", message)
    if sum(a == b for a, b in zip(seen[0], seen[1], strict=True)) > 2:
        return Result.failed("unseeded-rounds-alike", f"two rounds of the same batch both give {seen[0]}")
    if len({token for tokens in seen for token in tokens}) < 33:
        message = "36 draws in six rounds: a row of one round shares its number with another row of another round"
        return Result.failed("unseeded-numbers-come-again", message)
    if shift := shared_with_the_next(ask):
        message = f"two batches of {MANY} entries: entry {shift} of the first gets the token of entry 0 of the next,"
        message += f" entry {shift + 1} that of entry 1, and so on: batch.index and entry collide"
        return Result.failed("unseeded-numbers-come-again", message)
    try:
        ask("sampler", {"entropy": (1 << 63) - 1, "logits": 4, "batches": batches})
    except ProbeRaised as error:
        message = f"self.entropy = 2**63 - 1, the largest there is: {error}. The pair must stay within 64 bits"
        return Result.failed("pair-leaves-64-bits", message)
    other = ask("sampler", {"entropy": 5, "logits": WIDE, "batches": batches})
    if sum(a == b for a, b in zip(seen[0], other[0]["tokens"], strict=True)) > 2:
        return Result.failed("entropy-ignored", f"engines with different entropy both draw {seen[0]}")
    same = ask("sampler", {"entropy": 3, "logits": WIDE, "batches": batches})
    if [one["tokens"] for one in same] != seen:
        message = "the same entropy and the same batches gave other tokens: what else has a say?"
        return Result.failed("hidden-state", message)
    return Result.ok()


def shared_with_the_next(ask: Ask) -> int:
    """By how many places the tokens of a large batch are those of the one before it, moved; 0: by none."""
    batches = [{"index": i, "entries": [whole(hot())] * MANY} for i in (1, 2)]
    first, second = (one["tokens"] for one in ask("sampler", {"entropy": 3, "logits": 1024, "batches": batches}))
    return next((n for n in range(1, MANY - 8) if first[n:] == second[: MANY - n]), 0)
