"""How the answers to exercise 02.1 are judged. Runs in the judge."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result
from workbook.words import counted

from .by_hand import (
    DIM,
    HEADS,
    KV_HEADS,
    LAYERS,
    MAX_LEN,
    MISTAKES,
    OTHERS,
    ROWS,
    attended,
    name_output,
    name_storage,
    new_call,
    pieces,
    stored,
    tell_storage,
)
from .common import check_end_to_end, numbers, same


def judge_calls(ask: Ask, rng: Random, *calls: dict[str, Any]) -> Result:
    """Cache and output after each call, the first difference named."""
    cache = {name: numbers(rng, LAYERS, ROWS, MAX_LEN, KV_HEADS, DIM) for name in "kv"}
    answers = ask("attend", {**cache, "calls": list(calls)})
    for call, seen in zip(calls, answers, strict=True):
        entries = ", ".join(f"row {row}: {n} new at {start}" for row, start, n, _ in pieces(call))
        where = f"layer {call['layer']}, {entries}"
        after = stored(cache, call)
        if any(not same(seen[name], after[name]) for name in "kv"):
            diagnosis = name_storage(cache, after, seen, call)
            return Result.failed(diagnosis, f"{where}: afterwards, {tell_storage(diagnosis, cache, after, seen, call)}")
        shape = [len(call["q"]), HEADS, DIM]
        if seen["shape"] != shape:
            return Result.failed("wrong-shape", f"{where}: returned shape {seen['shape']}; expected {shape}")
        if seen["changed"]:
            changed = " and ".join(seen["changed"])
            return Result.failed("input-changed", f"{where}: {changed} changed; the answer belongs in a new tensor")
        want = attended(after, call)
        if not same(seen["out"], want):
            at = next(i for i, (a, b) in enumerate(zip(seen["out"], want, strict=True)) if not same(a, b))
            diagnosis, meaning = name_output(cache, after, call, seen["out"])
            return Result.failed(diagnosis, f"{where}: what q[{at}] gets is wrong; {meaning}")
        cache = after
    return Result.ok(counted(len(calls), "call"))


def check_stores(ask: Ask, rng: Random) -> Result:
    """Are the new keys and values where they belong, and is everything else as it was?"""
    one = new_call(rng, 1, (2, 0, 3))
    return only_storage(ask, rng, one, new_call(rng, 1, (2, 3, 1)), new_call(rng, 0, (1, 4, 2), (0, 2, 3)))


def only_storage(ask: Ask, rng: Random, *calls: dict[str, Any]) -> Result:
    """judge_calls, but for the output: a wrong output is the next checks' matter."""
    result = judge_calls(ask, rng, *calls)
    about_output = result.diagnosis in {*MISTAKES, *OTHERS}
    return Result.ok() if about_output else result


def check_one_prompt(ask: Ask, rng: Random) -> Result:
    """A prompt on an empty row: the familiar triangle."""
    return judge_calls(ask, rng, new_call(rng, 0, (1, 0, 5)))


def check_next_token(ask: Ask, rng: Random) -> Result:
    """One query over everything that was kept, token after token."""
    steps = [new_call(rng, 0, (0, start, 1)) for start in range(4, 7)]
    return judge_calls(ask, rng, new_call(rng, 0, (0, 0, 4)), *steps)


def check_three_over_eight(ask: Ask, rng: Random) -> Result:
    """Five positions, then three more: 3 queries over 8 keys."""
    return judge_calls(ask, rng, new_call(rng, 1, (1, 0, 5)), new_call(rng, 1, (1, 5, 3)))


def check_ragged_batch(ask: Ask, rng: Random) -> Result:
    """Several sequences in one call, rows in any order, each at its own length."""
    first = new_call(rng, 0, (2, 0, 3), (0, 0, 2))
    return judge_calls(ask, rng, first, new_call(rng, 0, (0, 2, 2), (1, 0, 4), (2, 3, 1)))


def check_same_dtype(ask: Ask, rng: Random) -> Result:
    """A model and a cache in bfloat16: so is the answer."""
    cache = {name: numbers(rng, LAYERS, ROWS, MAX_LEN, KV_HEADS, DIM) for name in "kv"}
    call = new_call(rng, 0, (1, 2, 3), (0, 0, 2))
    (seen,) = ask("attend", {**cache, "calls": [call], "dtype": "bfloat16"})
    if seen["dtype"] != "torch.bfloat16":
        return Result.failed("dtype-changed", f"bfloat16 went in, {seen['dtype']} came out")
    if not same(seen["out"], attended(stored(cache, call), call), 0.1):
        return Result.failed("wrong-attention", "right in float32, but far off in bfloat16")
    return Result.ok()


def check_random_calls(ask: Ask, rng: Random) -> Result:
    """Random entries until the rows are full."""
    for _ in range(4):
        lengths, calls = [[0] * ROWS for _ in range(LAYERS)], []
        for _ in range(6):
            layer = rng.randrange(LAYERS)
            entries = []
            for row in rng.sample(range(ROWS), rng.randint(1, ROWS)):
                left = MAX_LEN - lengths[layer][row]
                if left:
                    n = rng.randint(1, min(left, 5))
                    entries.append((row, lengths[layer][row], n))
                    lengths[layer][row] += n
            if entries:
                calls.append(new_call(rng, layer, *entries))
        result = judge_calls(ask, rng, *calls)
        if result.verdict != "ok":
            return result
    return Result.ok("4 random sequences of calls")
