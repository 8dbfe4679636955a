"""How the answers to exercise 01.1 are judged. Runs in the judge."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random

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


def turned(
    x: Heads,
    positions: Sequence[int],
    speeds: Numbers,
    *,
    pair: Callable[[int, int], tuple[int, int]] = lambda i, half: (i, i + half),
    sign: int = 1,
    shuffled: bool = False,
) -> Heads:
    """Every head turned, pair by pair. pair: which two numbers are point i. shuffled: angles laid out in twos."""
    half, out = len(speeds), []
    for heads, position in zip(x, positions, strict=True):
        out.append([list(head) for head in heads])
        for new, head in zip(out[-1], heads, strict=True):
            for i in range(half):
                a, b = pair(i, half)
                at, bt = (sign * position * speeds[j] for j in ((a // 2, b // 2) if shuffled else (i, i)))
                new[a] = head[a] * math.cos(at) - head[b] * math.sin(at)
                new[b] = head[b] * math.cos(bt) + head[a] * math.sin(bt)
    return out


def neighbours(i: int, half: int) -> tuple[int, int]:
    """The paper's pairs."""
    return 2 * i, 2 * i + 1


def compare_turned(ask: Ask, x: Heads, positions: list[int], speeds: Numbers) -> Result:
    """Turned heads beside the ones turned by hand."""
    args = {"x": x, "positions": positions, "frequencies": speeds, "length": max(positions) + 1}
    seen = ask("rotate", args)
    shape = [len(x), len(x[0]), len(x[0][0])]
    if seen["shape"] != shape:
        return Result.failed("wrong-shape", f"x of shape {shape} came back with shape {seen['shape']}")
    if not seen["kept"]:
        return Result.failed("input-changed", "rotate changed the tensor that it was given")
    got, want = seen["out"], turned(x, positions, speeds)
    if close(got, want):
        return Result.ok()
    mistakes = {
        "positions-ignored": turned(x, range(len(x)), speeds),
        "pairs-neighbours": turned(x, positions, speeds, pair=neighbours),
        "turns-backwards": turned(x, positions, speeds, sign=-1),
        "angles-in-twos": turned(x, positions, speeds, shuffled=True),
        "not-turned": x,
    }
    slug = next((name for name, wrong in mistakes.items() if close(got, wrong)), "wrong-values")
    return Result.failed(slug, f"positions {positions}: {where(got, want)}")


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
