"""One rank's parts: what connects them with the other ranks, and what puts rank 0 in command. Chapter 13."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ..assembly import Custom, Parts, Schedule, assemble_rank
from ..config import EngineConfig
from ..models.checkpoint import load
from .agree import SharedChoice, checked
from .comm import Communicator
from .lead import EndedError, Lead, LeadingLoop, LeadingScheduler
from .links import Link, RankError
from .shard import Shard


def rank_parts(
    config: EngineConfig,
    custom: Custom,
    comm: Communicator,
    link: Link,
    compare: bool = False,
    into_norm: Callable[[Any], Any] | None = None,
) -> Parts:
    """The parts of one rank. All ranks call this, with the same options; config.device is this rank's own.

    compare: compare every round's batch between the ranks, see AgreeingScheduler. into_norm: see Custom. The ranks
    agree on the smallest number of pages that any of them has room for.
    """
    if compare and custom.scheduler is not None:
        raise ValueError("rounds are compared by a scheduler of this package, not by custom.scheduler: leave out one")
    pages, around = custom.pages or (lambda most: most), custom.around_chooser or (lambda chooser: chooser)
    connected = replace(
        custom,
        load=partial(custom.load or load, split=partial(Shard, comm=comm)),
        pages=lambda most: link.exchange(pages(most), min),
        scheduler=checked(link) if compare else custom.scheduler,
        around_chooser=lambda chooser: SharedChoice(around(chooser), comm),
        into_norm=into_norm or custom.into_norm,
    )
    parts = assemble_rank(config, connected)
    link.exchange(None, len)  # nobody goes on before all are ready
    return parts


def in_command(lead: Lead, build: Callable[[], Parts]) -> Parts:
    """Rank 0's parts as `build` makes them, such that whoever uses them commands all ranks through `lead`."""
    with lead.together():
        parts = build()
    parts.books.harmless += (RankError, EndedError)  # what goes wrong between the ranks, and not in this one's books
    scheduler: Any = LeadingScheduler(parts.schedule.scheduler, lead)
    loop: Any = LeadingLoop(parts.schedule.loop, lead)
    # for whoever forgets to close: when the engine is dropped, or the interpreter ends
    weakref.finalize(loop, lead.close)
    return replace(parts, schedule=Schedule(scheduler, loop, parts.schedule.recorder), close=lead.close)
