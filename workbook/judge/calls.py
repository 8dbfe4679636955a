"""How probes call the student's functions, so that what goes wrong there tells which call it was, in one line."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

NOTE = "in the call "
"""The first words of the note that tells a call."""


class WrongReturnError(TypeError):
    """A function returned a value of another type than it should; the message says all."""


def call(function: Callable[..., Any], *args: Any, returns: type | None = None, name: str = "") -> Any:
    """`function(*args)`. What it raises gets a note that tells the call with the shapes of its arguments.

    name: what the function is called where that is not its own name. returns: the type that it must return; raises
    WrongReturnError for any other.
    """
    told = describe_call(function, args, name)
    try:
        value = function(*args)
    except Exception as error:
        error.add_note(NOTE + told)
        raise
    if returns is not None and not isinstance(value, returns):
        got = "None" if value is None else f"a {type(value).__name__}"
        raise WrongReturnError(f"{told} returned {got}; expected {returns.__name__}")
    return value


def describe_call(function: Callable[..., Any], args: tuple[Any, ...], name: str = "") -> str:
    """`rotate(x [5, 3, 8], cos [5, 1, 8], sin [5, 1, 8])`"""
    import inspect  # here: it takes a process longer to import than to start, and few need it

    parameters: list[str] = []
    with contextlib.suppress(TypeError, ValueError):
        parameters = list(inspect.signature(function).parameters)
    shown = [f"{parameters[i]} {show(arg)}" if i < len(parameters) else show(arg) for i, arg in enumerate(args)]
    return f"{name or getattr(function, '__name__', type(function).__name__)}({', '.join(shown)})"


def show(value: object) -> str:
    """An argument in a few characters: a tensor by its shape, and its dtype where that is unusual."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        dtype = str(value.dtype).removeprefix("torch.")
        return f"{list(value.shape)}" + (f" {dtype}" if dtype not in ("float32", "int64") else "")
    text = repr(value)
    if isinstance(value, (list, tuple)) and len(text) > 60:
        return f"of {len(value)}"
    return text if len(text) <= 60 and " at 0x" not in text else type(value).__name__


def told_call(error: BaseException) -> str:
    """The call that an exception was raised in, as `call` has noted it; else empty."""
    notes = [note for note in getattr(error, "__notes__", ()) if type(note) is str and note.startswith(NOTE)]
    return notes[-1].removeprefix(NOTE)[:500] if notes else ""


def explain(raised: dict[str, Any]) -> tuple[str, list[str]]:
    """What a student reads of an exception that crossed to the judge as values: a message, and the lines to it."""
    kind, text, where, told = (str(raised.get(key) or "") for key in ("type", "message", "where", "call"))
    trace = raised.get("trace")
    lines = [str(line) for line in trace] if type(trace) is list else []
    if kind == WrongReturnError.__name__:  # raised beside the student's code: the lines tell nothing
        return text, []
    if kind == "SystemExit":
        return f"the code called sys.exit({text})" + (f" ({where})" if where else ""), lines
    where = where or "raised elsewhere, by what your code returned or left behind"
    if told:
        return f"{told} raised {kind}: {' '.join(text.split())} ({where})", lines
    return f"{kind}: {text} ({where})", lines
