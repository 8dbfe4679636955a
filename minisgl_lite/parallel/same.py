"""Whether all ranks were given the same: options, model and parts of their own. Chapter 13."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ..custom import Custom

PIECE = 1 << 16
"""Bytes that are looked at, at the beginning and at the end of a file of weights."""


def fingerprint(model: object) -> str:
    """What a model folder holds, in a few digits: its config whole, of its weights names, sizes and some bytes.

    The same on every machine that has the same files. "" for what is no folder.
    """
    folder = Path(str(model))
    if not folder.is_dir():
        return ""
    digest = hashlib.sha256()
    for path in sorted([folder / "config.json", *folder.glob("*.safetensors")], key=lambda path: path.name):
        if not path.is_file():
            continue
        size = path.stat().st_size
        digest.update(f"{path.name} {size}\n".encode())
        with path.open("rb") as file:
            digest.update(file.read() if path.suffix == ".json" else file.read(PIECE))
            file.seek(max(0, size - PIECE))
            digest.update(file.read())
    return digest.hexdigest()[:16]


def described(custom: Custom) -> str:
    """The parts of a Custom by the names of their classes and functions; "none" where there is none.

    All that can be compared: two lambdas of one place have one name, whatever they have closed over.
    """
    given = {field: part for field, part in vars(custom).items() if part is not None}
    return ", ".join(f"{field}={_name(part)}" for field, part in given.items()) or "none"


def _name(part: object) -> str:
    if isinstance(part, partial):
        return f"partial({_name(part.func)})"
    named = part if hasattr(part, "__qualname__") else type(part)
    return f"{named.__module__}.{named.__qualname__}"


def difference(told: Sequence[dict[str, str]]) -> str:
    """How the first rank that was given something else differs from rank 0, in one line; "" when none does."""
    for rank, theirs in enumerate(told):
        for name, mine in told[0].items():
            if theirs[name] != mine:
                return f"rank {rank} was given other {name} ({theirs[name]}) than rank 0 ({mine})"
    return ""
