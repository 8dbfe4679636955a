"""How rows without numbers are judged, for exercise 10.1. Runs in the judge; plain Python."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import Ask, ProbeRaised, Result

from .common import OFF

GOOD = [0.0, 0.75, 0.25]
NAN = ["nan"] * 3


def check_rows_of_nan(ask: Ask, rng: Random) -> Result:
    """A row of NaN between two good ones: whatever token it gets, nothing is raised and the others do not notice."""
    at = [(row, u) for row in (GOOD, NAN, GOOD, NAN) for u in (0.0, 0.5, 1 - 2**-24)]
    filtered = [[row, k, p] for row, k, p in ((GOOD, 1, 1.0), (NAN, 2, 0.5), (NAN, OFF, 0.5), (GOOD, OFF, 0.5))]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("draw", {"probs": [row for row, _ in at], "u": [u for _, u in at]}),
        ("filtered", {"rows": filtered, "u": [0.0, 0.5, 1 - 2**-24]}),
    ]
    for probe, args in calls:
        name = "draw_filtered" if probe == "filtered" else probe
        try:
            got = ask(probe, args)
        except ProbeRaised as error:
            message = f"{name} with a row of NaN among good rows; whatever token that row gets, nothing may be raised"
            return Result.failed("nan-row-raises", f"{message}: {error}")
        tokens = got["tokens"] if probe == "draw" else [token for row in got["tokens"] for token in row]
        want = [1, 1, 2, None, None, None, 1, 1, 2] if probe == "draw" else [1, 1, 1, *[None] * 6, 1, 1, 1]
        for i, (token, right) in enumerate(zip(tokens, want, strict=False)):
            if right is not None and token != right:
                message = f"{name} of good rows and rows of NaN: row {i}, a good one, has token {token}"
                return Result.failed("nan-row-spoils-others", f"{message}; expected {right}")
    return Result.ok()
