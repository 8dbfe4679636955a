"""How the answers to exercise 13.1 are judged. Runs in the judge: parts are laid out by hand, position by position."""

from __future__ import annotations

from math import prod
from random import Random
from typing import Any

from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams
from workbook.words import counted

from .common import ORACLE_TOKENS, generated, stuck

Sizes = dict[str, int]
Span = tuple[int, int, int, int]
"""(axis, start, length, total)"""

ATTENTION, MLP = "model.layers.1.self_attn.", "model.layers.0.mlp."


def sizes_of(heads: int, kv_heads: int, head_dim: int, middle: int, vocab: int) -> Sizes:
    """A model's sizes as ModelConfig calls them."""
    names = ("num_heads", "num_kv_heads", "head_dim", "intermediate_size", "vocab_size")
    return dict(zip(names, (heads, kv_heads, head_dim, middle, vocab), strict=True))


def expected(sizes: Sizes, size: int, rank: int, name: str) -> Span | None:
    """What a rank takes, from the positions that its heads, numbers or words have."""
    layer, kind = name.split(".")[-2:]
    heads, kv, dim = sizes["num_heads"], sizes["num_kv_heads"], sizes["head_dim"]
    mine = range(rank * heads // size, (rank + 1) * heads // size)
    used = sorted({head * kv // heads for head in mine})
    middle, words = sizes["intermediate_size"] // size, -(-sizes["vocab_size"] // size)
    queries = (mine[0] * dim, len(mine) * dim, heads * dim)
    if layer in ("k_proj", "v_proj"):
        return (0, used[0] * dim, len(used) * dim, kv * dim)
    if layer == "q_proj":
        return (0, *queries)
    if layer in ("gate_proj", "up_proj"):
        return (0, rank * middle, middle, sizes["intermediate_size"])
    if layer in ("embed_tokens", "lm_head"):
        return (0, rank * words, words, sizes["vocab_size"])
    if kind == "weight" and layer == "o_proj":
        return (1, *queries)
    if kind == "weight" and layer == "down_proj":
        return (1, rank * middle, middle, sizes["intermediate_size"])
    return None


def judge_cuts(ask: Ask, cases: list[tuple[Sizes, int, int, str]]) -> Result:
    """Each cut beside what it must be."""
    for case, got in zip(cases, ask("cuts", {"cases": [list(case) for case in cases]}), strict=True):
        want = expected(*case)
        if (None if got is None else tuple(got)) != want:
            return name_cut(case, got, want)
    return Result.ok(f"{len(cases)} cuts")


def name_cut(case: tuple[Sizes, int, int, str], got: list[int] | None, want: Span | None) -> Result:
    """What a wrong cut says about the mistake."""
    sizes, size, rank, name = case
    layer, kind = name.split(".")[-2:]
    shown = "None (all of it)" if got is None else f"axis {got[0]}, {got[1]} .. {got[1] + got[2] - 1} of {got[3]}"
    right = "None (all of it)" if want is None else f"axis {want[0]}, {want[1]} .. {want[1] + want[2] - 1} of {want[3]}"
    said = f"{name} on rank {rank} of {size} ({sizes}): {shown}; expected {right}"
    if want is None:
        return Result.failed("row-bias-divided" if kind == "bias" else "whole-tensor-divided", said)
    if got is None:
        return Result.failed("column-bias-whole" if kind == "bias" else "divided-tensor-whole", said)
    if got[0] != want[0]:
        return Result.failed("wrong-axis", said)
    if got[3] != want[3]:
        return Result.failed("total-is-not-the-whole", said)
    if layer in ("k_proj", "v_proj") and sizes["num_kv_heads"] < size and got[2] == want[2]:
        return Result.failed("kv-head-of-another-group", said)
    if layer in ("embed_tokens", "lm_head") and got[2] != want[2]:
        return Result.failed("last-words-lost" if got[2] < want[2] else "wrong-part", said)
    if got[1] * sizes["head_dim"] == want[1] and got[2] * sizes["head_dim"] == want[2]:
        return Result.failed("heads-taken-for-rows", said)
    return Result.failed("wrong-part", said)


COLUMNS = [ATTENTION + "q_proj", MLP + "gate_proj", MLP + "up_proj"]
ROWS = [ATTENTION + "o_proj", MLP + "down_proj"]
WHOLE = ["model.norm.weight", "model.layers.1.input_layernorm.weight", ATTENTION + "q_norm.weight"]
KV = [ATTENTION + "k_proj", ATTENTION + "v_proj"]
WORDS = ["model.embed_tokens.weight", "lm_head.weight"]


def both(names: list[str]) -> list[str]:
    """Weights and biases."""
    return [f"{name}.{kind}" for name in names for kind in ("weight", "bias")]


def check_columns_and_rows(ask: Ask, rng: Random) -> Result:
    """Outputs, inputs, and what is whole; weights and biases."""
    sizes = sizes_of(8, 4, 16, 96, 120)
    names = both(COLUMNS + ROWS) + WHOLE
    return judge_cuts(ask, [(sizes, size, rank, name) for name in names for size in (2, 4) for rank in range(size)])


def check_kv_heads(ask: Ask, rng: Random) -> Result:
    """As many as ranks, more, fewer, and one."""
    cases = [(8, 8, 2), (8, 4, 4), (8, 2, 4), (8, 2, 8), (4, 1, 4), (16, 4, 8)]
    return judge_cuts(
        ask,
        [
            (sizes_of(heads, kv, 16, 96, 120), size, rank, name)
            for heads, kv, size in cases
            for name in both(KV)
            for rank in range(size)
        ],
    )


def check_vocabulary(ask: Ask, rng: Random) -> Result:
    """Sizes that divide, sizes that do not, and more ranks than there are words for."""
    return judge_cuts(
        ask,
        [
            (sizes_of(8, 4, 16, 96, vocab), size, rank, name)
            for vocab in (128, 129, 127, 7, 5)
            for size in (1, 2, 4)
            for name in WORDS
            for rank in range(size)
        ],
    )


def check_random_models(ask: Ask, rng: Random) -> Result:
    """Every tensor of forty models on 1 to 8 ranks."""
    cases = []
    for _ in range(40):
        size, kv = rng.choice([1, 2, 4, 8]), rng.choice([1, 2, 4, 8])
        heads = max(size, kv) * rng.choice([1, 2, 3])
        sizes = sizes_of(heads, kv, rng.choice([16, 64]), size * rng.randint(3, 40), rng.randint(3, 400))
        names = both(COLUMNS + ROWS + KV) + WHOLE + WORDS
        cases += [(sizes, size, rng.randrange(size), name) for name in names]
    return judge_cuts(ask, cases)


def part(shape: list[int], axis: int, start: int, length: int) -> Any:
    """The values of a part of a tensor that counts from 1 on, with zeros behind its end."""
    at = range(start, start + length)
    if len(shape) == 1:
        return [float(i + 1) if i < shape[0] else 0.0 for i in at]
    places = [(i, j) for i in (at if axis == 0 else range(shape[0])) for j in (at if axis == 1 else range(shape[1]))]
    values = [float(i * shape[1] + j + 1) if i < shape[0] and j < shape[1] else 0.0 for i, j in places]
    width = length if axis == 1 else shape[1]
    return [values[k : k + width] for k in range(0, len(values), width)]


def check_reads_its_part_only(ask: Ask, rng: Random) -> Result:
    """Rows, columns, biases, parts with padding and of nothing but padding; tensors of another size."""
    right = [([8, 6], 0, 4, 4, 8), ([8, 6], 1, 3, 3, 6), ([10], 0, 5, 5, 10), ([7, 3], 0, 4, 4, 7)]
    right += [
        ([7, 3], 0, 6, 2, 7),
        ([5, 3], 0, 6, 2, 5),
        ([5, 3], 0, 4, 2, 5),
        ([4, 7], 1, 4, 4, 7),
        ([8, 6], 0, 0, 8, 8),
    ]
    right += [([6, 4], 0, 2 * r, 2, 6) for r in range(3)]
    wrong = [([8, 6], 0, 0, 4, 10), ([8, 6], 1, 0, 3, 8), ([9, 6], 0, 4, 4, 8), ([4, 6], 0, 0, 4, 8), ([8], 1, 0, 4, 8)]
    got = ask("read", {"cases": [list(case) for case in right + wrong]})
    for (shape, axis, start, length, total), one in zip(right + wrong, got, strict=True):
        what = f"a tensor {shape}, axis {axis}, {start} .. {start + length - 1} of {total}"
        if (shape, axis, start, length, total) in wrong:
            if "refused" not in one:
                return Result.failed("wrong-size-not-refused", f"{what}: read without a word")
            if "the.tensor" not in one["refused"]:
                return Result.failed("tensor-not-named", f"{what}: refused with {one['refused']!r}")
            continue
        if "refused" in one:
            return Result.failed("right-size-refused", f"{what}: refused with {one['refused']!r}")
        result = judge_part(what, shape, axis, start, length, one)
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(right)} parts read, {len(wrong)} tensors refused")


def positions(values: Any, axis: int) -> int:
    """How many positions the part has along its axis."""
    return len(values if axis == 0 or not values else values[0])


def judge_part(what: str, shape: list[int], axis: int, start: int, length: int, one: dict[str, Any]) -> Result:
    """The values, the dtype, and how much was read."""
    want = part(shape, axis, start, length)
    if one["values"] != want:
        beyond = start + length > shape[axis]
        said = f"{what}: {one['values']}; expected {want}"
        if positions(one["values"], axis) > length:
            message = f"{positions(one['values'], axis)} positions instead of {length}: {said}"
            return Result.failed("too-many-positions", message)
        return Result.failed("padding-missing" if beyond else "wrong-values", said)
    if one["dtype"] != "torch.bfloat16":
        return Result.failed("dtype-changed", f"{what}: the tensor is bfloat16, the part {one['dtype']}")
    there = max(0, min(length, shape[axis] - start)) * (prod(shape) // shape[axis])
    if one["read"] > there:
        return Result.failed("reads-more-than-its-part", f"{what}: {one['read']} numbers read; its part has {there}")
    return Result.ok()


def check_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model on two and on eight ranks, which share its four KV heads: Hugging Face's greedy tokens."""
    for size in (2, 8):
        prompts, got = generated(ask, rng, size)
        if waiting := stuck(got, counted(size, "rank")):
            return waiting
        for one in got:
            result = compare_streams(
                prompts, one["tokens"], bound=TIE_GAP, most=ORACLE_TOKENS, note=f"{counted(size, 'rank')}."
            )
            if result.verdict == "failed":
                return result
    return Result.ok("2 and 8 ranks")
