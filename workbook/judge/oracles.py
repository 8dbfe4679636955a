"""Where checks get Hugging Face's greedy tokens from: the record beside the checkpoint, or computed anew."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from .. import oracle
from .checklib import OracleLike, OracleMissing


@cache
def recorded() -> Sequence[OracleLike]:
    """The recorded runs that do not meet an end token. Raises OracleMissing."""
    try:
        return oracle.load().prompts
    except (OSError, ValueError, KeyError) as error:
        raise OracleMissing(f"the record of Hugging Face's tokens cannot be read: {error}") from error


@cache
def live() -> Sequence[OracleLike]:
    """The recorded prompts run through Hugging Face now: about half a minute. Raises OracleMissing."""
    prompts = [list(run.ids) for run in recorded()]
    try:
        return tuple(oracle.live(prompts))
    except (ImportError, OSError, ValueError) as error:
        raise OracleMissing(f"Hugging Face's model cannot be run: {error}") from error
