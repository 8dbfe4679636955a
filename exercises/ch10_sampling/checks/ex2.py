"""How the answers to exercise 10.2 are judged. Runs in the judge: every expectation is computed in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

from minisgl_lite.core import NO_TOKEN
from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams, first_difference

from .common import ORACLE_TOKENS, oracle_prompts

Entry = list[Any]  # params, prompt tokens, first position computed, how many
WIDE = 100_000
"""Equally likely tokens, so many that two equal ones are hardly ever chance."""


def hot(**changed: Any) -> dict[str, Any]:
    """Parameters of a request that samples."""
    return {"temperature": 1.0, **changed}


def whole(params: dict[str, Any], prompt: int = 1) -> Entry:
    """An entry that computes all of its prompt."""
    return [params, prompt, 0, prompt]


def ask_one(ask: Ask, logits: Any, entries: list[Entry], **changed: Any) -> dict[str, Any]:
    """What one batch gives."""
    batch = {"index": 1, "entries": entries, **changed}
    return ask("sampler", {"entropy": 3, "logits": logits, "batches": [batch]})[0]


def argmax(row: Sequence[float]) -> int:
    """The most likely token."""
    return max(range(len(row)), key=row.__getitem__)


def check_greedy_rows(ask: Ask, rng: Random) -> Result:
    """Rows at temperature 0 between rows that sample, and nothing but such rows."""
    logits = [[rng.gauss(0, 1) for _ in range(50)] for _ in range(24)]
    for row in logits:  # two tokens tie: the lower id is the argmax, a draw might fall on the other
        row[rng.randrange(argmax(row), 50)] = max(row)
    cold = [{"top_k": 3, "seed": i, "top_p": 0.9} for i in range(24)]
    mixed = [cold[i] if i % 2 else hot(seed=i) for i in range(24)]
    for name, params in (("greedy rows only", cold), ("every second row greedy", mixed)):
        got = ask_one(ask, logits, [whole(each) for each in params])
        for i, each in enumerate(params):
            want = argmax(logits[i])
            if "temperature" not in each and got["tokens"][i] != want:
                message = f"{name}: row {i} has temperature 0 and token {got['tokens'][i]}; its argmax is {want}"
                return Result.failed("greedy-row-not-argmax", message)
        if got["tensors"] != 1:
            message = f"{name}: nobody asks for log-probabilities, but {got['tensors']} tensors go to the host"
            return Result.failed("reports-unasked", message)
    return Result.ok()


def check_own_parameters(ask: Ask, rng: Random) -> Result:
    """Each row by its own request's parameters, in a batch in which some entries emit nothing."""
    logits = [[rng.gauss(0, 0.5) for _ in range(200)] for _ in range(8)]
    piece: Entry = [hot(), 9, 0, 4]
    # rows 0 .. 7 of the logits; the pieces have none
    params = [hot(top_k=1, seed=i) if i % 2 else hot(seed=i) for i in range(8)]
    entries = [piece, piece, *(whole(each, 3) for each in params[:4]), piece, *(whole(each, 3) for each in params[4:])]
    tokens = ask_one(ask, logits, entries)["tokens"]
    if len(tokens) != len(logits):
        return Result.failed("row-for-a-piece", f"{len(tokens)} tokens for the {len(logits)} entries that emit")
    for i in range(1, 8, 2):
        if tokens[i] != argmax(logits[i]):
            message = f"row {i} keeps one token (top_k 1), {argmax(logits[i])}; it got {tokens[i]}"
            return Result.failed("parameters-of-another-row", f"{message}. Three of 11 entries emit nothing")
    hottest = [tokens[i] == argmax(logits[i]) for i in range(0, 8, 2)]
    if all(hottest):
        return Result.failed("rows-not-drawn", "four rows over 200 tokens at temperature 1 all got their argmax")
    return Result.ok()


BAD: list[tuple[str, list[Any]]] = [
    ("all NaN", ["nan"] * 4),
    ("one NaN", [0.0, "nan", 0.0, 0.0]),
    ("nothing but -infinity", ["-inf"] * 4),
    ("one +infinity", [0.0, "inf", 0.0, 0.0]),
]


def check_no_numbers(ask: Ask, rng: Random) -> Result:
    """A bad row between two good ones, one of which forbids a token."""
    for what, bad in BAD:
        for params in ({}, hot(), hot(top_p=0.9), hot(logprobs=2)):
            good, forbids = [0.0, 9.0, 0.0, 0.0], [9.0, 0.0, "-inf", 0.0]
            entries = [whole(each) for each in ({}, params, hot(temperature=0.01))]
            got = ask_one(ask, [good, bad, forbids], entries)
            said = f"{what}, {'sampled' if params else 'greedy'}: tokens {got['tokens']}; expected [1, {NO_TOKEN}, 0]"
            if got["tokens"][1] != NO_TOKEN:
                return Result.failed("bad-row-has-a-token", said)
            if got["tokens"] != [1, NO_TOKEN, 0]:
                return Result.failed("bad-row-spoils-others", said)
            if got["logprobs"][1]:
                return Result.failed("bad-row-has-a-token", f"{what}: log-probabilities of a row without a token")
    return Result.ok()


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
    for (way, diagnosis, row, _), got in zip(ways[1:], seen[1:], strict=False):
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
    other = ask("sampler", {"entropy": 5, "logits": WIDE, "batches": batches})
    if sum(a == b for a, b in zip(seen[0], other[0]["tokens"], strict=True)) > 2:
        return Result.failed("entropy-ignored", f"engines with different entropy both draw {seen[0]}")
    same = ask("sampler", {"entropy": 3, "logits": WIDE, "batches": batches})
    if [one["tokens"] for one in same] != seen:
        message = "the same entropy and the same batches gave other tokens: what else has a say?"
        return Result.failed("hidden-state", message)
    return Result.ok()


def check_logprobs(ask: Ask, rng: Random) -> Result:
    """Of the model's own distribution, for those who ask, as many as each asks for."""
    logits = [[rng.gauss(0, 3) for _ in range(12)] for _ in range(6)]
    asked = [3, None, 0, 5, None, 1]
    params = [
        hot(temperature=0.3, top_k=2, seed=i) if n is None else {"logprobs": n, "seed": i} for i, n in enumerate(asked)
    ]
    params[3] = hot(temperature=0.3, top_k=2, logprobs=5)
    got = ask_one(ask, logits, [whole(each) for each in params])
    for i, n in enumerate(asked):
        told = got["logprobs"][i]
        if n is None:
            continue
        total = math.log(sum(math.exp(z) for z in logits[i]))
        best = sorted(range(12), key=lambda t, row=logits[i]: -row[t])[:n]
        want = {t: logits[i][t] - total for t in {*best, got["tokens"][i]}}
        have = dict(told[0]) if told else {}
        if have.keys() != want.keys():
            message = f"row {i} asks for {n} log-probabilities: told are tokens {sorted(have)}; expected {sorted(want)}"
            return Result.failed("wrong-logprobs", message)
        for t, value in want.items():
            if abs(have[t] - value) > 1e-3:
                message = f"row {i}: the log-probability of token {t} is {value:.3f}; told is {have[t]:.3f}"
                return Result.failed("wrong-logprobs", message)
    return Result.ok()


def check_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model: greedy requests among hot ones, and a seeded one in every company."""
    prompts = oracle_prompts(ask, rng)
    ids = [list(p.ids) for p in prompts]
    cold = {"max_tokens": ORACLE_TOKENS}
    mixed = [cold if i % 2 == 0 else hot(**cold, top_p=0.9) for i in range(len(ids))]
    got = ask("generate", {"prompts": ids, "params": mixed}, seconds=40.0)
    if any(len(one) != ORACLE_TOKENS for one in got):
        return Result.failed("wrong-tokens", f"not every request has its {ORACLE_TOKENS} tokens")
    result = compare_streams(prompts[::2], got[::2], bound=TIE_GAP, note="Greedy, in a batch with hot requests.")
    if result.verdict not in ("ok", "tie"):
        return result
    mine = hot(**cold, temperature=1.5, seed=rng.randrange(1000)) | {"temperature": 1.5}
    alone = ask("generate", {"prompts": ids[:1], "params": [mine]}, seconds=40.0)[0]
    for options in ({}, {"overlap": False, "cache_type": "naive"}, {"max_extend_tokens": 7}):
        args = {"prompts": ids[::-1], "params": [hot(**cold)] * 4 + [mine], "options": options}
        among = ask("generate", args, seconds=40.0)[-1]
        if among != alone:
            step = first_difference(alone, among)
            message = f"a seeded request alone: {alone}; among four others ({options or 'defaults'}): {among}"
            return Result.failed("seed-depends-on-the-batch", f"{message}; they part at token {step}")
    return result
