"""The only things that cross from a graded process to the judge: plain JSON values, checked by their exact types."""

from __future__ import annotations

import json
import math
from typing import Any

MAX_BYTES = 8_000_000
MAX_DEPTH = 20


class NotAValue(TypeError):  # noqa: N818  it names a finding
    """Something is not a plain value; the message says where and what it is."""


def plain(value: Any, where: str = "value", depth: int = 0) -> Any:
    """A copy of `value` made of int, float, str, bool, None, list and dict (text keys) only; a tuple becomes a list.

    Types are compared exactly: an object that claims to equal everything, or a subclass of int, is refused.
    Half a surrogate pair in a text is spelt out: it could be written nowhere. Raises NotAValue.
    """
    if depth > MAX_DEPTH:
        raise NotAValue(f"{where} is nested more than {MAX_DEPTH} deep")
    kind = type(value)
    if kind is float and not math.isfinite(value):
        raise NotAValue(f"{where} is {value}")
    if kind is str:
        return clean(value)
    if value is None or kind in (bool, int, float):
        return value
    if kind in (list, tuple):
        return [plain(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]
    if kind is dict:
        copy: dict[str, Any] = {}
        for key, item in value.items():
            if type(key) is not str:
                raise NotAValue(f"{where} has a key that is no text: {type(key).__name__}")
            copy[clean(key)] = plain(item, f"{where}[{key!r}]", depth + 1)
        return copy
    raise NotAValue(f"{where} is a {kind.__name__}, not a plain value")


def clean(text: str) -> str:
    """The text with halves of surrogate pairs spelt out, as in `\\ud800`."""
    return text.encode("utf-8", errors="backslashreplace").decode("utf-8")


def encode(message: dict[str, Any]) -> str:
    """One line of JSON. Raises NotAValue when it is too long."""
    line = json.dumps(message, ensure_ascii=True, allow_nan=False)
    if len(line) > MAX_BYTES:
        raise NotAValue(f"the answer is {len(line)} bytes long; at most {MAX_BYTES} are read")
    return line


def decode(line: str) -> dict[str, Any]:
    """The message in a line. Raises NotAValue when it is not one JSON object of plain values."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise NotAValue("an answer is not JSON") from error
    if type(message) is not dict:
        raise NotAValue("an answer is not a JSON object")
    # What a tampered process sent has passed no check over there: NaN, for one, is neither above nor below a bound.
    return {str(key): plain(value, key) for key, value in message.items()}
