"""How the answers to exercise 12.1 are judged. Runs in the judge."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from workbook.judge.checklib import Ask, Result

from .common import check_end_to_end

__all__ = ["check_end_to_end"]


def wanted(most: int) -> list[int]:
    """The sizes, one integer at a time."""
    return [n for n in range(1, most + 1) if n in (1, 2, 4) or n % 8 == 0 or n == most]


def check_sizes(ask: Ask, rng: Random) -> Result:
    """From 1 to 40, and some larger ones."""
    asked = [*range(1, 41), 100, 255, 256, rng.randint(257, 600)]
    for most, got in zip(asked, ask("sizes", {"most": asked}), strict=True):
        want = wanted(most)
        if got != want:
            return Result.failed(name_sizes(most, got, want), f"bucket_sizes({most}) is {got}; expected {want}")
    return Result.ok(f"{len(asked)} lists")


def name_sizes(most: int, got: list[int], want: list[int]) -> str:
    """What a wrong list says about the mistake."""
    if any(type(n) is not int for n in got):
        return "wrong-sizes"
    if len(set(got)) < len(got):
        return "a-size-twice"
    if sorted(got) != got:
        return "not-ascending"
    if any(n > most or n < 1 for n in got):
        return "larger-than-most"
    if most not in got:
        return "most-is-missing"
    gaps = [b - a for a, b in pairwise(got)]
    return "pads-too-much" if max(gaps, default=0) > 8 else "wrong-sizes"


def check_smallest_that_fits(ask: Ask, rng: Random) -> Result:
    """Lists of any sizes."""
    questions: list[tuple[list[int], int]] = [([], 1), ([4], 4), ([4], 5), ([1, 2, 4], 3), ([1, 2, 4], 9), ([3, 7], 1)]
    for _ in range(60):
        sizes = sorted(rng.sample(range(1, 40), rng.randint(1, 8)))
        questions.append((sizes, rng.choice([*sizes, rng.randint(1, 45)])))
    return judge_fits(ask, questions)


def judge_fits(ask: Ask, questions: list[tuple[list[int], int]]) -> Result:
    """Against a look at every size."""
    for (sizes, entries), got in zip(questions, ask("fits", {"questions": questions}), strict=True):
        fitting = [n for n in sizes if n >= entries]
        want = min(fitting) if fitting else None
        if got != want or type(got) is not type(want):
            message = f"bucket_for({sizes if len(sizes) < 12 else f'{len(sizes)} sizes'}, {entries}) is {got}"
            return Result.failed(name_fit(entries, got, want), f"{message}; expected {want}")
    return Result.ok(f"{len(questions)} questions")


def name_fit(entries: int, got: object, want: int | None) -> str:
    """What a wrong bucket says about the mistake."""
    if want is None:
        return "fits-where-nothing-does"
    if type(got) is int and got < entries:
        return "too-small"
    if want == entries and type(got) in (int, type(None)):
        return "just-enough-is-refused"
    return "not-the-smallest" if type(got) is int else "finds-nothing"


def check_every_batch(ask: Ask, rng: Random) -> Result:
    """All batches up to the largest, on the sizes of the student."""
    for most in (1, 7, 20, 64, rng.randint(65, 256)):
        sizes = ask("sizes", {"most": [most]})[0]
        found = ask("fits", {"questions": [[sizes, n] for n in range(1, most + 2)]})
        for entries, size in enumerate(found[:-1], 1):
            if size is None or size < entries:
                return Result.failed("too-small", f"graphs up to {most}: {entries} entries get {size}")
            if size - entries > 7:
                message = f"graphs up to {most}: {entries} entries get {size}, {size - entries} for nothing"
                return Result.failed("pads-too-much", message)
        if found[-1] is not None:
            return Result.failed("fits-where-nothing-does", f"graphs up to {most}: {most + 1} entries get {found[-1]}")
    return Result.ok()
