"""Where checks get Hugging Face's greedy tokens from: the record beside the checkpoint, or computed anew."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from .checklib import OracleLike, OracleMissing


@cache
def recorded() -> Sequence[OracleLike]:
    """The recorded runs. Raises OracleMissing."""
    try:
        from ..oracle import load

        return tuple(load())
    except (ImportError, OSError, ValueError, KeyError) as error:
        raise OracleMissing(f"the record of Hugging Face's tokens cannot be read: {error}") from error


@cache
def live() -> Sequence[OracleLike]:
    """The same prompts run through Hugging Face now. Slow. Raises OracleMissing."""
    raise OracleMissing("placeholder")
