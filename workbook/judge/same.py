"""Equality for checks: Python's own says that 1, 1.0 and True are one value."""

from __future__ import annotations


def same(want: object, have: object) -> bool:
    """Whether two plain values are equal, and of equal types at any depth. A tuple is as good as a list."""
    if isinstance(want, (list, tuple)) and isinstance(have, (list, tuple)):
        return len(want) == len(have) and all(same(a, b) for a, b in zip(want, have, strict=True))
    if isinstance(want, dict) and isinstance(have, dict):
        return want.keys() == have.keys() and all(same(value, have[key]) for key, value in want.items())
    return type(want) is type(have) and want == have
