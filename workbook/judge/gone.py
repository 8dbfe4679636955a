"""How a question to a graded process may end without an answer."""

from __future__ import annotations

from typing import Any

from .calls import explain

KNOWN = {
    "NotImplementedError": "not-implemented",
    "InvariantError": "invariant-broken",
    "MemoryError": "memory",
    "SystemExit": "called-exit",
    "WrongReturnError": "wrong-return-type",
    "OutsideError": "reached-outside",
}
"""Diagnoses of exceptions that have one of their own."""


class ChildError(Exception):
    """A probe brought no value. `diagnosis` is a slug; the message is for the student."""

    def __init__(self, diagnosis: str, message: str, trace: list[str] | None = None) -> None:
        super().__init__(message)
        self.diagnosis, self.trace = diagnosis, trace or []


class ProbeRaised(ChildError):  # noqa: N818  it names what happened
    """The student's code raised. `type` is the exception's name, `text` its message; the process goes on."""

    def __init__(self, raised: dict[str, Any]) -> None:
        self.type, self.text = str(raised.get("type")), str(raised.get("message"))
        message, trace = explain(raised)
        super().__init__(KNOWN.get(self.type, f"raised-{self.type}"), message, trace)


class ProcessGone(ChildError):  # noqa: N818  it names what happened
    """The process is dead or was killed: nothing more can be asked. Diagnoses: exited, timeout, memory, garbled."""
