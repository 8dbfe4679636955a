"""What callers pass in: integers of other libraries, lists of any kind, values in error messages. Chapter 03."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Set


def shown(value: object, most: int = 80) -> str:
    """A value for an error message: in one line, cut off behind `most` characters."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # integers beyond what Python prints, objects of anybody's making
        text = f"<{type(value).__name__} that cannot be shown>"
    return text if len(text) <= most else text[: most - 3] + "..."


def as_int(value: object) -> object:
    """Integers of other libraries as Python's; everything else, booleans too, as it is."""
    try:
        return value if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return value


def in_order(value: object) -> bool:
    """Whether a value can be made a list of: iterable, and neither text, a mapping nor a set."""
    if isinstance(value, str | bytes | bytearray | Mapping | Set):
        return False
    try:
        iter(value)  # type: ignore[call-overload]
    except TypeError:
        return False
    return True


def ints(value: object) -> list[int] | None:
    """The integers of anything in order; None where a value is none, or they are none."""
    try:
        return list(map(operator.index, value)) if in_order(value) else None  # type: ignore[call-overload]
    except TypeError:
        return None
