"""How the answers to exercise 13.2 are judged. Runs in the judge: every product is computed in plain Python."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams
from workbook.words import counted

from .common import ORACLE_TOKENS, generated, matrix, stuck, times

Rows = list[list[float]]


def plus(rows: Rows, bias: list[float], count: int = 1) -> Rows:
    """The bias added to each row, `count` times."""
    return [[a + count * b for a, b in zip(row, bias, strict=True)] for row in rows]


def ask_layer(ask: Ask, what: str, kind: str, size: int, weight: Rows, given: Any, **more: Any) -> Any:
    """What each rank gives; a Result where they did not meet, differ, or changed what is not theirs."""
    got = ask("layer", {"kind": kind, "size": size, "weight": weight, "given": given, **more})
    if waiting := stuck(got, what):
        return waiting
    if not all(one["kept"] for one in got):
        return Result.failed("input-or-weights-changed", f"{what}: the weights, the bias or the input were changed")
    for rank, one in enumerate(got):
        if one["out"] != got[0]["out"]:
            message = f"{what}: rank 0 has {got[0]['out'][0]}, rank {rank} {one['out'][0]}"
            return Result.failed("ranks-differ", message)
    return got


def judge_row(ask: Ask, rng: Random, size: int, bias: list[float] | None) -> Result:
    """One row-parallel layer."""
    tokens, outputs = rng.randint(1, 4), rng.randint(2, 5)
    weight, x = matrix(rng, outputs, 8), matrix(rng, tokens, 8)
    if bias is not None:
        bias = [float(rng.randint(1, 9)) for _ in range(outputs)]
    shape = f"[{outputs}, 8]{'' if bias is None else ' with a bias'}"
    what = f"row-parallel {shape} on {counted(size, 'rank')}, x [{tokens}, 8]"
    got = ask_layer(ask, what, "row", size, weight, x, bias=bias)
    if isinstance(got, Result):
        return got
    product = times(x, weight)
    want = product if bias is None else plus(product, bias)
    out = got[0]["out"]
    if out == want:
        return Result.ok()
    said = f"{what}: the first row is {out[0]}; expected {want[0]}"
    if bias is not None and out == plus(product, bias, size):
        return Result.failed("bias-added-on-every-rank", f"{said}: the bias is {bias}")
    if bias is not None and out == product:
        return Result.failed("bias-forgotten", f"{said}: the bias is {bias}")
    if out == [[size * value for value in row] for row in want]:
        return Result.failed("summed-twice", said)
    return Result.failed("wrong-output", said)


def check_row_parallel(ask: Ask, rng: Random) -> Result:
    """Without a bias, on 1 to 4 ranks."""
    for size in (1, 2, 4, 2, 4):
        result = judge_row(ask, rng, size, None)
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_bias_once(ask: Ask, rng: Random) -> Result:
    """With a bias, which is the same on every rank."""
    for size in (1, 2, 4, 2, 4):
        result = judge_row(ask, rng, size, [])
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_embedding(ask: Ask, rng: Random) -> Result:
    """Every token of vocabularies that divide and that do not."""
    for size, vocab in ((1, 5), (2, 6), (2, 7), (4, 9), (4, 5), (4, 12)):
        table = matrix(rng, vocab, 3, 1, 9)
        ids = [*range(vocab), 0, vocab - 1, rng.randrange(vocab)]
        what = f"an embedding of {vocab} words on {counted(size, 'rank')}"
        got = ask_layer(ask, what, "embedding", size, table, ids)
        if isinstance(got, Result):
            return got
        if len(got[0]["out"]) != len(ids):
            return Result.failed("wrong-output", f"{what}: {len(got[0]['out'])} rows for {len(ids)} tokens")
        rows = -(-vocab // size)
        for token, out in zip(ids, got[0]["out"], strict=True):
            if out != table[token]:
                said = f"{what}, {rows} rows a rank: token {token} is {out}; expected {table[token]}"
                return Result.failed(name_row(out, table[token]), said)
    return Result.ok()


def name_row(out: list[float], want: list[float]) -> str:
    """What a wrong row of an embedding says."""
    if not any(out):
        return "token-looked-up-nowhere"
    if all(a >= b for a, b in zip(out, want, strict=True)):
        return "other-ranks-rows-added"
    return "wrong-output"


def check_head(ask: Ask, rng: Random) -> Result:
    """All logits below 0, so that padding would be the most likely token; one row and several."""
    for size, vocab, tokens in ((1, 5, 2), (2, 6, 1), (2, 6, 3), (2, 7, 3), (4, 9, 2), (4, 5, 3)):
        weight, hidden = matrix(rng, vocab, 4, -9, -1), matrix(rng, tokens, 4, 1, 5)
        want = times(hidden, weight)
        what = f"a head of {vocab} words on {counted(size, 'rank')}, hidden [{tokens}, 4]"
        got = ask_layer(ask, what, "head", size, weight, hidden)
        if isinstance(got, Result):
            return got
        result = judge_logits(what, got[0]["out"], want, vocab, -(-vocab // size))
        if result.verdict != "ok":
            return result
    return Result.ok()


def judge_logits(what: str, out: Rows, want: Rows, vocab: int, rows: int) -> Result:
    """The logits, in the order of the words."""
    if out == want:
        return Result.ok()
    shape = [len(out), len(out[0]) if out and isinstance(out[0], list) else 0]
    said = f"{what}: logits {shape}, the first row {out[0]}; expected {want[0]}"
    if len(out) == len(want) and shape[1] > vocab:
        return Result.failed("padding-among-the-logits", said)
    if len(out) == len(want) and shape[1] == rows:
        return Result.failed("parts-summed-instead-of-gathered", said)
    if shape != [len(want), vocab]:
        return Result.failed("wrong-shape", said)
    if sorted(value for row in out for value in row) == sorted(value for row in want for value in row):
        return Result.failed("parts-in-the-wrong-order", said)
    return Result.failed("parts-in-the-wrong-order" if len(want) > 1 else "wrong-output", said)


def check_what_is_moved(ask: Ask, rng: Random) -> Result:
    """A sum of the output, a gathering of this rank's logits: no more goes over the wire."""
    size, tokens = 2, 3
    for kind, weight, given, want in (
        ("row", matrix(rng, 5, 8), matrix(rng, tokens, 8), (tokens * 5, 0)),
        ("embedding", matrix(rng, 7, 4, 1, 5), [0, 6, 3], (tokens * 4, 0)),
        ("head", matrix(rng, 7, 4, -5, -1), matrix(rng, tokens, 4), (0, tokens * 4)),
    ):
        what = f"the {kind} layer on {counted(size, 'rank')}, {tokens} tokens"
        got = ask_layer(ask, what, kind, size, weight, given)
        if isinstance(got, Result):
            return got
        moved = (got[0]["reduced"], got[0]["gathered"])
        if moved != want:
            message = f"{what}: {moved[0]} numbers summed, {moved[1]} gathered; expected {want[0]} and {want[1]}"
            return Result.failed("moves-more-than-needed" if sum(moved) > sum(want) else "wrong-collective", message)
    return Result.ok()


def check_on_a_gpu(ask: Ask, rng: Random) -> Result:
    """In bfloat16, nothing wider goes over the wire; and nothing waits for the device, in the midst of a graph."""
    bias = [1.0, 2.0, 3.0]
    for kind, weight, given, more in (
        ("row", matrix(rng, 3, 8), matrix(rng, 3, 8), {}),
        ("row", matrix(rng, 3, 8), matrix(rng, 3, 8), {"bias": bias}),
        ("embedding", matrix(rng, 7, 4, 1, 5), [0, 6, 3], {}),
        ("head", matrix(rng, 7, 4, -5, -1), matrix(rng, 3, 4), {}),
    ):
        what = f"the {kind} layer on 2 ranks, 3 tokens, bfloat16"
        got = ask_layer(ask, what, kind, 2, weight, given, dtype="bfloat16", **more)
        if isinstance(got, Result):
            return got
        if waits := got[0]["waits"] + got[1]["waits"]:
            message = f"{what}: `{waits[0]}` needs a value that only the device knows. The host would wait for it"
            return Result.failed("waits-for-the-device", f"{message}, and a CUDA graph cannot record it")
        if wide := [dtype for dtype in got[0]["dtypes"] if dtype != "torch.bfloat16"]:
            message = f"{what}: numbers of {wide[0]} go over the wire; those of the output are torch.bfloat16"
            return Result.failed("moves-wider-numbers", message)
    return Result.ok()


def check_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model on two and on four ranks: Hugging Face's greedy tokens on each of them."""
    for size in (2, 4):
        prompts, got = generated(ask, rng, size)
        if waiting := stuck(got, counted(size, "rank")):
            return waiting
        for one in got:
            result = compare_streams(
                prompts, one["tokens"], bound=TIE_GAP, most=ORACLE_TOKENS, note=f"{counted(size, 'rank')}."
            )
            if result.verdict == "failed":
                return result
    return Result.ok("2 and 4 ranks")
