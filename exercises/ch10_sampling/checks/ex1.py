"""How the answers to exercise 10.1 are judged. Runs in the judge: every expectation is computed in plain Python."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from workbook.judge.checklib import TIE_GAP, Ask, ProbeRaised, Result, compare_streams

from .common import OFF, ORACLE_PROMPTS, ORACLE_TOKENS, kept, oracle_prompts, random_probs, safe_share
from .edges import check_rows_of_nan
from .names import Row, differs, name_draw, name_kept, name_temperature, shown, softmax, token_at

__all__ = ["check_rows_of_nan"]

GRID = [(i + 0.5) / 512 for i in range(512)]
LAST = 1 - 2**-24
"""The largest number that `uniforms` gives."""


def check_temperature(ask: Ask, rng: Random) -> Result:
    """softmax(logits / temperature), each row its own; extreme temperatures; forbidden tokens; half precision."""
    ordinary = [[rng.gauss(0, 2) for _ in range(6)] for _ in range(4)]
    # numbers that bfloat16 has; the differences it has not
    fine = [[2.0, 0.01171875, 1.0078125, -0.34765625]] * 2
    extreme = [[-50.0, 50.0, 49.0, -math.inf]] * 5
    for rows, temperatures, dtype in (
        (ordinary, [1.0, 0.5, 2.0, 0.25], "float32"),
        (extreme, [1.0, 1e-4, 1e-8, 1e-50, 1e50], "float32"),
        (extreme, [1.0, 1e-4, 1e-8, 1e-50, 1e50], "float16"),
        (extreme, [0.5, 1.0, 2.0, 4.0, 8.0], "bfloat16"),
        ([[1.0, 1.000001]] * 2, [1e-8, 1e-30], "float32"),  # so near that 1e-8 must not act as 1e-6
        (fine, [1.0, 0.5], "bfloat16"),
    ):
        told = [[z if z > -math.inf else "-inf" for z in row] for row in rows]
        what = f"logits {dtype} [{len(rows)}, {len(rows[0])}]"
        try:
            got = ask("probabilities", {"logits": told, "temperature": temperatures, "dtype": dtype})
        except ProbeRaised as error:
            if dtype == "float32":
                raise
            return Result.failed("computed-in-half-precision", f"{what}: {error}. First bring them to float32")
        if got["shape"] != [len(rows), len(rows[0])]:
            return Result.failed("wrong-shape", f"{what}: probabilities has the shape {got['shape']}")
        if got["changed"]:
            return Result.failed("logits-changed", f"{what}: probabilities changed the logits that it was given")
        if got["dtype"] != "torch.float32":
            return Result.failed("not-float32", f"{what}: the probabilities are {got['dtype']}")
        for i, (row, t) in enumerate(zip(rows, temperatures, strict=True)):
            if differs(got["probs"][i], softmax(row, t)):
                if rows is fine:
                    return Result.failed("computed-in-half-precision", f"{what}, row {i}: first bring them to float32")
                return name_temperature(f"{what}, row {i}", row, t, temperatures[0], got["probs"][i])
    return Result.ok()


def check_end_to_end_on_a_line(ask: Ask, rng: Random) -> Result:
    """Where u falls: exact halves and quarters, totals that are not 1, every row with its own u."""
    rows = [[0.25, 0.25, 0.5]] * 6 + [[1.0, 2.0, 1.0]] * 4 + [[0.125, 0.0, 0.125, 0.25]] * 4
    at = [0.0, 0.125, 0.25, 0.375, 0.5, 0.875, 0.125, 0.25, 0.5, 0.75, 0.125, 0.25, 0.375, 0.75]
    for _ in range(20):  # in random rows rounding must not decide: u is in the middle of a token's piece
        probs = random_probs(rng, 8)
        token = rng.choice([i for i, p in enumerate(probs) if p > 1e-3])
        scale = rng.choice([1.0, 0.5, 4.0])
        rows.append([p * scale for p in probs])
        at.append(sum(probs[:token]) + probs[token] / 2)
    for size in (3, 4, 8):
        mine = [(row, u) for row, u in zip(rows, at, strict=True) if len(row) == size]
        got = ask("draw", {"probs": [row for row, _ in mine], "u": [u for _, u in mine]})
        if got["shape"] != [len(mine)]:
            return Result.failed("wrong-shape", f"draw of probs {[len(mine), size]} has the shape {got['shape']}")
        for (row, u), token in zip(mine, got["tokens"], strict=True):
            if token != token_at(row, u):
                return name_draw(row, u, token)
    return Result.ok()


def check_never_without_probability(ask: Ask, rng: Random) -> Result:
    """Zeros at both ends and between, u at both ends, totals of any size: no token of probability 0."""
    for u in (0.0, LAST):
        rows = []
        for _ in range(300):
            probs = [rng.random() if i % 3 == 1 else 0.0 for i in range(40)]
            scale = rng.choice([1.0, 1e-40, 1e30])
            rows.append([0.0] + [p * scale for p in probs] + [0.0])
        got = ask("draw", {"probs": rows, "u": [u] * len(rows)})
        for row, token in zip(rows, got["tokens"], strict=True):
            if not 0 <= token < len(row):
                message = f"u = {u!r}: token {token} of a vocabulary of {len(row)}; u * total may round up to the total"
                return Result.failed("token-outside-the-vocabulary", message)
            if row[token] == 0:
                side = "before the first" if u == 0 else "behind the last"
                message = f"u = {u!r}: token {token}, whose probability is 0 ({side} that has some)"
                return Result.failed("token-without-probability", message)
    return Result.ok("600 draws at both ends")


def ask_filtered(ask: Ask, rows: list[Row]) -> Any:
    """The tokens of each row for every u of the grid; a Result where the form is wrong."""
    try:
        got = ask("filtered", {"rows": [list(row) for row in rows], "u": GRID})
    except ProbeRaised as error:
        ask("filtered", {"rows": [[probs, min(k, len(probs)), p] for probs, k, p in rows], "u": GRID})
        message = f"top_k {OFF} of a vocabulary of {len(rows[0][0])}: {error}. A top_k that is larger than it is off"
        return Result.failed("large-top-k-raises", message)
    if got["shape"] != [len(rows) * len(GRID)]:
        return Result.failed("wrong-shape", f"draw_filtered of {len(rows) * len(GRID)} rows gives {got['shape']}")
    return got["tokens"]


def judge_kept(rows: list[Row], tokens: list[list[int]]) -> Result:
    """Which tokens ever come, row by row."""
    for row, drawn in zip(rows, tokens, strict=True):
        # what is kept has at least two of the 512 numbers, else it might not come
        want = kept(*row)
        share = sum(row[0][i] for i in want)
        sure = {i for i in want if row[0][i] / share > 2 / len(GRID)}
        if not (sure <= set(drawn) <= set(want)):
            return name_kept(row, rows[0], sorted(set(drawn)))
    return Result.ok()


def check_what_is_kept(ask: Ask, rng: Random) -> Result:
    """0.6, 0.3, 0.1 and their kind; each case in a call of its own."""
    three = [0.6, 0.3, 0.1]
    cases: list[Row] = [(three, OFF, p) for p in (0.5, 0.61, 0.95, 1e-6, 1e-50, 1.0)]
    cases += [([three[i] for i in (2, 0, 1)], OFF, p) for p in (0.5, 0.61, 0.95)]
    cases += [(three, k, 1.0) for k in (1, 2, 3)] + [([0.1, 0.3, 0.6], 2, 1.0)]
    cases += [([0.4, 0.3, 0.2, 0.1], 2, 0.5), ([0.4, 0.3, 0.2, 0.1], 3, 0.75), ([0.22] * 4 + [0.12], 2, 1.0)]
    # what is reached exactly: halves and quarters have no rounding
    cases += [([0.5, 0.25, 0.25], OFF, 0.5), ([0.25] * 4, OFF, 0.75), ([0.25, 0.125, 0.125, 0.5], OFF, 0.75)]
    cases += [([0.125] * 8, 3, 0.5), ([0.0, 0.5, 0.0, 0.5], OFF, 0.9)]
    for case in cases:
        tokens = ask_filtered(ask, [case])
        result = tokens if isinstance(tokens, Result) else judge_kept([case], tokens)
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(cases)} sets of tokens")


def check_shares(ask: Ask, rng: Random) -> Result:
    """512 evenly spaced numbers: each token that is kept gets its share of them."""
    for probs, k, p in (([0.6, 0.3, 0.1], OFF, 0.61), ([0.1, 0.2, 0.3, 0.4], 3, 1.0), ([0.5, 0.3, 0.2], 2, 0.99)):
        tokens = ask_filtered(ask, [(probs, k, p)])
        if isinstance(tokens, Result):
            return tokens
        want = kept(probs, k, p)
        for i in want:
            share, got = probs[i] / sum(probs[j] for j in want), tokens[0].count(i) / len(GRID)
            if abs(share - got) > 3 / len(GRID):
                message = f"probabilities {shown(probs)}: of the kept {sorted(want)} token {i} has {share:.1%};"
                return Result.failed("shares-not-kept", f"{message} it gets {got:.1%} of the draws")
    return Result.ok()


def check_rows_by_themselves(ask: Ask, rng: Random) -> Result:
    """Forty random rows, each with its own filters, in one call."""
    rows: list[Row] = []
    for _ in range(40):
        probs = random_probs(rng, 9)
        k = rng.choice([OFF, 1, 2, 3, 5])
        rows.append((probs, k, rng.choice([1.0, safe_share(rng, probs, k)])))
    tokens = ask_filtered(ask, rows)
    return tokens if isinstance(tokens, Result) else judge_kept(rows, tokens)


def check_fixed_work(ask: Ask, rng: Random) -> Result:
    """As many operations for 30 rows as for 3, and none that waits for the device."""
    few, many = (ask("sampling_work", {"rows": rows}) for rows in (3, 30))
    for one, other in zip(few, many, strict=True):
        name = one["function"]
        if one["waits"]:
            message = f"{name}: `{one['waits'][0]}` needs values that are on the device: the host would wait there"
            return Result.failed("waits-for-the-device", message)
        if one["operations"] != other["operations"]:
            message = (
                f"{name}: {one['operations']} operations for 3 rows, {other['operations']} for 30: a loop over rows"
            )
            return Result.failed("work-grows-with-the-batch", message)
    return Result.ok()


def check_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model, hot, but with filters that leave one token: Hugging Face's greedy tokens."""
    prompts = oracle_prompts(ask, rng)
    hot = {"max_tokens": ORACLE_TOKENS, "temperature": 0.7}
    params = [{**hot, **({"top_k": 1} if i % 2 else {"top_p": 1e-6})} for i in range(ORACLE_PROMPTS)]
    got = ask("generate", {"prompts": [list(p.ids) for p in prompts], "params": params}, seconds=40.0)
    if [len(ids) for ids in got] != [ORACLE_TOKENS] * ORACLE_PROMPTS:
        return Result.failed("wrong-tokens", f"not every request has its {ORACLE_TOKENS} tokens")
    return compare_streams(prompts, got, bound=TIE_GAP, note="Only the most likely token should have been kept.")
