"""Whether all ranks were given the same: options and model. Chapter 13."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

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


def difference(told: Sequence[dict[str, str]]) -> str:
    """How the first rank that was given something else differs from rank 0, in one line; "" when none does."""
    for rank, theirs in enumerate(told):
        for name, mine in told[0].items():
            if theirs[name] != mine:
                return f"rank {rank} was given other {name} ({theirs[name]}) than rank 0 ({mine})"
    return ""
