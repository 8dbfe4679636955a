"""Where checks get Hugging Face's greedy tokens from: the record beside the checkpoint, or computed anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

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


def packed(source: Callable[[], Sequence[OracleLike]]) -> dict[str, Any]:
    """Runs as plain values, for a process that shall neither read nor compute them itself; see `unpacked`."""
    try:
        runs = source()
    except OracleMissing as error:
        return {"missing": str(error)}
    return {"runs": [[list(run.ids), list(run.output_ids), list(run.gaps)] for run in runs]}


def unpacked(values: dict[str, Any]) -> Callable[[], Sequence[OracleLike]]:
    """What gives the runs that were packed. It raises OracleMissing where they were missing."""

    def runs() -> Sequence[OracleLike]:
        if "missing" in values:
            raise OracleMissing(values["missing"])
        return tuple(
            oracle.OraclePrompt(f"run-{number}", tuple(ids), tuple(output), tuple(gaps))
            for number, (ids, output, gaps) in enumerate(values["runs"])
        )

    return runs
