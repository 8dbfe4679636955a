"""How the answers to exercise 10.2 are judged. Runs in the judge: every expectation is computed in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

from minisgl_lite.core import NO_TOKEN
from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams, first_difference

from .common import ORACLE_TOKENS, oracle_prompts
from .seeds import Entry, check_seeds, check_without_a_seed, hot, whole

__all__ = ["check_seeds", "check_without_a_seed"]


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
            rows = f"{good} (greedy), {what} ({'sampled' if params else 'greedy'}), {forbids} (sampled)"
            said = f"rows {rows}: tokens {got['tokens']}; expected [1, {NO_TOKEN}, 0]"
            if got["tokens"][1] != NO_TOKEN:
                return Result.failed("bad-row-has-a-token", said)
            if got["tokens"] == [1, NO_TOKEN, NO_TOKEN]:
                return Result.failed("forbidden-token-spoils-its-row", f"{said}. A logit of -inf only forbids a token")
            if got["tokens"] != [1, NO_TOKEN, 0]:
                return Result.failed("bad-row-spoils-others", said)
            if got["logprobs"][1]:
                return Result.failed("bad-row-has-a-token", f"{what}: log-probabilities of a row without a token")
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
    if got["reported"] != got["asking"]:
        message = f"requests with logprobs {asked}: {got['reported']} rows in the report; expected {got['asking']}"
        if got["reported"] == sum(map(bool, asked)):
            message += ". Whose logprobs is 0 asks as well: for that of its own token, and no other"
            return Result.failed("asked-for-none-forgotten", message)
        return Result.failed("wrong-rows-in-the-report", message)
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
    mine = hot(**cold, temperature=1.5, seed=rng.randrange(1000))
    alone = ask("generate", {"prompts": ids[:1], "params": [mine]}, seconds=40.0)[0]
    for options in ({}, {"overlap": False, "cache_type": "naive"}, {"max_extend_tokens": 7}):
        args = {"prompts": ids[::-1], "params": [hot(**cold)] * 4 + [mine], "options": options}
        among = ask("generate", args, seconds=40.0)[-1]
        if among != alone:
            step = first_difference(alone, among)
            message = f"a seeded request alone: {alone}; among four others ({options or 'defaults'}): {among}"
            return Result.failed("seed-depends-on-the-batch", f"{message}; they part at token {step}")
    return result
