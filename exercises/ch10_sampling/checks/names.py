"""What a wrong probability, token or set of tokens says about the mistake. Runs in the judge; plain Python."""

from __future__ import annotations

import math
from typing import Any

from workbook.judge.checklib import Result

from .common import OFF, kept

Row = tuple[list[float], int, float]
"""(probabilities, top_k, top_p)"""


def softmax(row: list[float], temperature: float) -> list[float]:
    """In double precision; temperatures are as float32 has them."""
    high = max(row)
    if temperature < 1e-44:
        weights = [float(z == high) for z in row]
    else:
        t = min(temperature, 3.4e38)
        weights = [math.exp(max(-745.0, (z - high) / t)) if z > -math.inf else 0.0 for z in row]
    return [weight / sum(weights) for weight in weights]


def differs(got: list[Any], want: list[float]) -> bool:
    """Whether two rows differ by more than rounding."""
    return any(a is None or abs(a - b) > 1e-4 for a, b in zip(got, want, strict=True))


def name_temperature(where: str, row: list[float], t: float, first: float, got: list[Any]) -> Result:
    """What a wrong row says about the mistake."""
    said = f"{where}, temperature {t:g}: {shown(got)}; expected {shown(softmax(row, t))}"
    if any(p is None for p in got):
        which = "overflow-at-low-temperature" if t < 1 else "forbidden-token-is-not-a-number"
        return Result.failed(which, said)
    if not differs(got, softmax(row, 1 / t)):
        return Result.failed("temperature-multiplied", said)
    if not differs(got, softmax(row, first)):
        return Result.failed("one-temperature-for-all", said)
    if t < 1e-4 and got.index(max(got)) == row.index(max(row)):
        return Result.failed("low-temperature-raised", f"{said}; it acts as a higher temperature")
    if t < 1e-4 or t > 1e4:
        return Result.failed("overflow-at-low-temperature" if t < 1 else "overflow-at-high-temperature", said)
    return Result.failed("wrong-probabilities", said)


def shown(row: list[Any]) -> str:
    """A row of numbers to three decimals."""
    return "[" + ", ".join("nan" if p is None else f"{p:.3f}" for p in row) + "]"


def token_at(probs: list[float], u: float, total: float | None = None) -> int:
    """Where u falls, exactly; the number of tokens when it falls on none."""
    point, end = u * (sum(probs) if total is None else total), 0.0
    for i, p in enumerate(probs):
        end += p
        if point < end:
            return i
    return len(probs)


def name_draw(row: list[float], u: float, token: int) -> Result:
    """What a wrong token says about the mistake."""
    want, ends = token_at(row, u), [sum(row[: i + 1]) for i in range(len(row))]
    said = f"probabilities {shown(row)}, u = {u:g}: token {token}; expected {want}"
    if abs(ends[-1] - 1) > 1e-6 and token == min(token_at(row, u, 1.0), len(row) - 1):
        return Result.failed("total-taken-for-1", f"{said}: the total is {ends[-1]:g}")
    if u * ends[-1] in ends and token < want:
        return Result.failed("end-taken-twice", f"{said}: a piece does not include its end")
    return Result.failed("wrong-token", said)


def name_kept(row: Row, first: Row, drawn: list[int]) -> Result:
    """What a wrong set of tokens says about the mistake."""
    probs, k, p = row
    want, order = kept(*row), sorted(range(len(probs)), key=lambda i: (-probs[i], i))
    off = "off" if k >= len(probs) else str(k)
    said = f"probabilities {shown(probs)}, top_k {off}, top_p {p:g}: tokens {drawn} come; expected {sorted(want)}"
    if any(not 0 <= token < len(probs) for token in drawn):
        return Result.failed("token-outside-the-vocabulary", said)
    inside, beyond = kept(probs, k, 1.0), [i for i in drawn if i not in want]
    both_ways = [i for i in kept(probs, OFF, p) if i in inside]
    ranks = [order.index(i) for i in want]
    if beyond and set(drawn) == {*want, *(i for i in inside + order if probs[i] == probs[want[-1]])}:
        return Result.failed("wrong-one-of-equals", f"{said}; among equally likely tokens the lower id comes first")
    for diagnosis, candidate in (
        ("first-row-for-all", kept(probs, first[1], first[2])),
        ("ranks-instead-of-ids", ranks),
        ("top-p-before-top-k", both_ways),
        ("crossing-token-left-out", want[:-1] or order[:1]),
        ("one-token-too-many", order[: len(want) + 1]),
        ("top-p-ignored", inside),
        ("top-k-ignored", kept(probs, OFF, p)),
    ):
        if set(drawn) == set(candidate) != set(want):
            return Result.failed(diagnosis, said)
    return Result.failed("keeps-too-many" if beyond else "keeps-too-few", said)
