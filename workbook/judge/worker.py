"""The process that grades one submission of a class, started by the overseer from texts in memory (memory.py).

A submission that finds and kills the judge finds this process, and costs itself only. Each report goes out signed with
a secret that came in on standard input: what a submission writes into the pipe is no report.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..handed_in import Unreadable
from ..spec import Exercise
from . import oracles
from .hidden import load_hidden
from .limits import adopt_orphans, close_memory, die_with_parent, give_up_root
from .paper import Paper
from .session import Session
from .verdicts import CheckReport, Report

READY = "ready"
"""The id of what is told before any code of the submission runs: digests of what was read."""


def as_values(report: Report, digest: str) -> dict[str, Any]:
    """A report as plain values, with the digest of the text it is about."""
    values = {name: getattr(report, name) for name in ("status", "seconds", "notes", "printed", "trace", "stood_on")}
    return {
        "id": report.exercise.id,
        "digest": digest,
        "checks": [dataclasses.asdict(c) for c in report.checks],
        **values,
    }


def from_values(values: Mapping[str, Any], exercise: Exercise) -> Report:
    """The report that as_values was given."""
    fields = {name: value for name, value in values.items() if name not in ("id", "digest", "checks")}
    lists = {name: tuple(value) for name, value in fields.items() if type(value) is list}
    checks = tuple(CheckReport(**check) for check in values["checks"])
    return Report(exercise, **{**fields, **lists, "checks": checks})


def signed(secret: str, values: Mapping[str, Any]) -> str:
    """One line: signature and values."""
    text = json.dumps(values, ensure_ascii=True)
    return f"{_signature(secret, text)} {text}"


def verified(secret: str, line: str) -> dict[str, Any] | None:
    """The values of a signed line; None for any other."""
    signature, _, text = line.strip().partition(" ")
    if not signature.isascii() or not hmac.compare_digest(signature, _signature(secret, text)):
        return None
    values: dict[str, Any] = json.loads(text)
    return values


def _signature(secret: str, text: str) -> str:
    return hmac.new(secret.encode(), text.encode("utf-8", errors="replace"), hashlib.sha256).hexdigest()


def main() -> None:
    """Grade what the request on standard input names; a signed line a report."""
    adopt_orphans()
    close_memory()
    give_up_root()
    die_with_parent()
    request = json.loads(sys.stdin.readline())
    root = Path(request["root"])
    oracle = oracles.unpacked(request["oracle"])
    private = tuple(request["private"])
    session = Session(root, request["seed"], oracle, lambda line: None, private)
    if request["hidden"]:
        hidden = load_hidden(Path(request["hidden"]), root, session.places(), private)
        session = dataclasses.replace(session, hidden=hidden)
    texts = {name: Unreadable(text[0]) if type(text) is list else text for name, text in request["texts"].items()}
    grader = session.grader(request["ids"])
    _tell(request["secret"], {"id": READY, "read": grader.read()})
    for report, digest in grader(Paper(texts), request["passed"], 1):
        _tell(request["secret"], as_values(report, digest))


def _tell(secret: str, values: Mapping[str, Any]) -> None:
    # The newline first: whatever a submission may have written there, a report begins a line.
    sys.stdout.write("\n" + signed(secret, values) + "\n")
    sys.stdout.flush()
