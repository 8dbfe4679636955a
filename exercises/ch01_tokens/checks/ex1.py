"""How the answers to exercise 01.1 are judged. Runs in the judge."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result

from .common import Heads, Numbers, check_end_to_end, close, draw, flat, show, where

LLAMA3 = [8.0, 1.0, 4.0, 16]  # factor, low, high, original length


def plain_frequencies(base: float, head_dim: int) -> Numbers:
    """Radians a position, from fast to slow."""
    return [base ** (-2 * i / head_dim) for i in range(head_dim // 2)]


def stretched(plain: Numbers, scaling: Sequence[float]) -> Numbers:
    """Llama 3's rule: slow pairs divided by the factor, fast ones kept, those between mixed."""
    factor, low, high, length = scaling
    out = []
    for frequency in plain:
        turns = length * frequency / (2 * math.pi)
        kept = min(1.0, max(0.0, (turns - low) / (high - low)))
        out.append(kept * frequency + (1 - kept) * frequency / factor)
    return out


def check_frequencies(ask: Ask, rng: Random) -> Result:
    """base ** (-2 i / head_dim), stretched where the config says so."""
    for base, size, scaling in ((10_000.0, 8, None), (1e6, 64, None), (10_000.0, 64, LLAMA3)):
        plain = plain_frequencies(base, size)
        want = plain if scaling is None else stretched(plain, scaling)
        got = ask("frequencies", {"base": base, "head_dim": size, "scaling": scaling})
        if close(got, want, 1e-5):
            continue
        told = f"base {base:g}, head_dim {size}, {'llama3 scaling' if scaling else 'no scaling'}: "
        if len(flat(got)) != size // 2:
            return Result.failed("wrong-shape", f"{told}{len(flat(got))} frequencies, expected {size // 2}")
        message = f"{told}{show(got)}, expected {show(want)}"
        return Result.failed(name_frequencies(got, plain, base, size, scaling is not None), message)
    return Result.ok("3 ropes")


def name_frequencies(got: Numbers, plain: Numbers, base: float, size: int, scaled: bool) -> str:
    """Which mistake gives these frequencies?"""
    mistakes = {
        "scaling-ignored": plain if scaled else [],
        "exponent-not-doubled": [base ** (-i / size) for i in range(size // 2)],
        "exponent-over-half": [base ** (-4 * i / size) for i in range(size // 2)],
        "base-ignored": plain_frequencies(10_000.0, size) if base != 10_000.0 else [],
        "slow-to-fast": plain[::-1],
        "not-inverted": [1 / frequency for frequency in plain],
    }
    return next((name for name, wrong in mistakes.items() if wrong and close(got, wrong, 1e-5)), "wrong-frequencies")


Pair = Callable[[int, int], tuple[int, int]]


def halves(i: int, half: int) -> tuple[int, int]:
    """The checkpoints' pairs."""
    return i, i + half


def neighbours(i: int, half: int) -> tuple[int, int]:
    """The paper's pairs."""
    return 2 * i, 2 * i + 1


def turned(
    x: Heads,
    positions: Sequence[int],
    speeds: Numbers,
    *,
    pair: Pair = halves,
    to: Pair | None = None,
    speed_of: Callable[[int, int], int] = lambda number, half: number % half,
    signs: tuple[int, int] = (-1, 1),
    swapped: bool = False,
    from_zero: str = "",
) -> Heads:
    """Every head turned, pair by pair.

    pair: which two numbers are point i. to: where they are written. speed_of: which speed a number turns with.
    signs: of the sine, for the two numbers of a point. swapped: sine and cosine exchanged. from_zero: "cos" or "sin" is
    taken as if the tokens were at 0, 1, 2, ...
    """
    half, out = len(speeds), []
    for number, (heads, position) in enumerate(zip(x, positions, strict=True)):
        out.append([list(head) for head in heads])
        for new, head in zip(out[-1], heads, strict=True):
            for i in range(half):
                (a, b), places = pair(i, half), (to or pair)(i, half)
                for place, sign, mine, other in zip(places, signs, (a, b), (b, a), strict=True):
                    speed = speeds[speed_of(mine, half)]
                    cos = math.cos(speed * (number if from_zero == "cos" else position))
                    sin = math.sin(speed * (number if from_zero == "sin" else position))
                    cos, sin = (sin, cos) if swapped else (cos, sin)
                    new[place] = head[mine] * cos + sign * head[other] * sin
    return out


def in_twos(number: int, half: int) -> int:
    """Speeds laid out 0 0 1 1 ... instead of 0 1 ... 0 1 ..."""
    return number // 2


MISTAKES: list[tuple[str, str, dict[str, Any]]] = [
    ("pairs-neighbours", "numbers 2i and 2i + 1 are turned together", {"pair": neighbours, "speed_of": in_twos}),
    ("pairs-neighbours", "numbers 2i and 2i + 1 are turned together", {"pair": neighbours}),
    (
        "pairs-neighbours",
        "numbers 2i and 2i + 1 are turned together",
        {"pair": neighbours, "speed_of": in_twos, "to": halves},
    ),
    ("turns-backwards", "each point turns clockwise: the sine has the wrong sign", {"signs": (1, -1)}),
    ("sine-never-negative", "both numbers of a point get + sine: one of them needs the minus", {"signs": (1, 1)}),
    ("sine-never-positive", "both numbers of a point get - sine: one of them needs the plus", {"signs": (-1, -1)}),
    ("angles-in-twos", "the angles are laid out 0 0 1 1 ...; the halves need 0 1 ... 0 1 ...", {"speed_of": in_twos}),
    ("cos-and-sin-swapped", "cosine and sine are exchanged", {"swapped": True}),
    ("cosines-ignore-positions", "token i gets the cosines of position i: its own is given", {"from_zero": "cos"}),
    ("sines-ignore-positions", "token i gets the sines of position i: its own is given", {"from_zero": "sin"}),
]


def name_turned(x: Heads, positions: Sequence[int], speeds: Numbers, got: Heads) -> tuple[str, str]:
    """The mistake that would give exactly these heads, and what it means."""
    for slug, meaning, change in MISTAKES:
        if close(got, turned(x, positions, speeds, **change)):
            return slug, meaning
    if close(got, turned(x, range(len(x)), speeds)):
        return "positions-ignored", "token i is turned as if it were at position i"
    if close(got, x):
        return "not-turned", "nothing was turned"
    return "wrong-values", "no known mistake gives these numbers"


def ask_turned(ask: Ask, x: Heads, positions: list[int], speeds: Numbers, dtype: str = "float32") -> dict[str, Any]:
    """The answer to one call of rows and rotate."""
    length = max(positions) + 1
    args = {"x": x, "positions": positions, "frequencies": speeds, "length": length, "dtype": dtype}
    seen: dict[str, Any] = ask("rotate", args)
    return seen


def compare_turned(ask: Ask, x: Heads, positions: list[int], speeds: Numbers) -> Result:
    """Turned heads beside the ones turned by hand."""
    seen = ask_turned(ask, x, positions, speeds)
    shape = [len(x), len(x[0]), len(x[0][0])]
    if seen["shape"] != shape and any(len(rows["shape"]) == 2 for rows in seen["rows"]):
        message = f"rows returned {seen['rows'][0]['shape']}: without an axis for the heads it does not fit x {shape}"
        return Result.failed("no-axis-for-the-heads", message)
    if seen["shape"] != shape:
        return Result.failed("wrong-shape", f"x of shape {shape} came back with shape {seen['shape']}")
    if not seen["kept"]:
        return Result.failed("input-changed", "rotate changed the tensor that it was given")
    got, want = seen["out"], turned(x, positions, speeds)
    if close(got, want):
        return Result.ok()
    slug, meaning = name_turned(x, positions, speeds, got)
    return Result.failed(slug, f"positions {positions}: {where(got, want)}; {meaning}")


def check_turned_by_hand(ask: Ask, rng: Random) -> Result:
    """Tokens at 0, 1, 2, ...: each pair turned by its own angle."""
    quarter = compare_turned(ask, [[[1.0, 0.0]], [[1.0, 0.0]]], [0, 1], [math.pi / 2])  # (1, 0) -> (0, 1)
    if quarter.verdict != "ok":
        return quarter
    return compare_turned(ask, draw(rng, 5, 3, 8), [0, 1, 2, 3, 4], plain_frequencies(100.0, 8))


def check_positions_in_any_order(ask: Ask, rng: Random) -> Result:
    """Tokens of several requests: positions start again, repeat and jump."""
    for positions in ([7], [0, 1, 2, 0, 1], [40, 3, 3, 17], [rng.randrange(60) for _ in range(9)]):
        result = compare_turned(ask, draw(rng, len(positions), 2, 16), positions, plain_frequencies(10_000.0, 16))
        if result.verdict != "ok":
            return result
    return Result.ok("4 batches")


def check_asked_dtype(ask: Ask, rng: Random) -> Result:
    """Rows come in the dtype that was asked for, and the turned heads keep it."""
    x, positions, speeds = draw(rng, 4, 2, 8), [3, 0, 1, 2], plain_frequencies(100.0, 8)
    seen = ask_turned(ask, x, positions, speeds, "float64")
    other = next((rows["dtype"] for rows in seen["rows"] if rows["dtype"] != "torch.float64"), None)
    if other:
        return Result.failed("rows-ignore-dtype", f"rows was asked for torch.float64 and returned {other}")
    if seen["dtype"] != "torch.float64":
        return Result.failed("dtype-changed", f"rotate was given torch.float64 and returned {seen['dtype']}")
    want = turned(x, positions, speeds)
    if not close(seen["out"], want):
        return Result.failed("wrong-values", f"in float64: {where(seen['out'], want)}")
    return Result.ok()
