"""What a rank holds of the others: it joins them, and it lets go of them. Chapter 13."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from typing import Any

import torch

from ..assembly import Custom, Parts
from ..config import EngineConfig
from ..models.checkpoint import as_device
from . import forks
from .links import LeaderLink, Link, RankError
from .near import NearSums
from .parts import rank_parts
from .processes import Processes
from .same import described, difference, fingerprint
from .torch_comm import CollectiveError, TorchCommunicator

PARTING = 2.0
"""Seconds for the thread in which the ranks meet to notice that they do not."""

CHECK = "MINISGL_LITE_CHECK_RANKS"
"""Set this environment variable to 1, and every round is compared between the ranks before it runs."""


@dataclass(frozen=True)
class Seat:
    """Where a rank sits. store: opens what torch.distributed meets at. local_rank: its number on its machine."""

    rank: int
    store: Callable[[], Any]
    local_rank: int
    one_machine: bool


class Team:
    """One rank's hold of the others. Rank 0 has a link to all of them and, where it has started them, their processes.

    broken: who has ended without having been told to. port: at which the store listens, where it is this process's.
    """

    def __init__(self, store: Any = None) -> None:
        """store: torch.distributed's, where it is this process's. Who waits for it is let go when the team ends."""
        forks.hold(self)
        self._store = store
        self.port: int = store.port if store is not None else 0
        self.broken: RankError | None = None
        self.link: LeaderLink | None = None
        self.processes: Processes | None = None
        self._comm: TorchCommunicator | None = None
        self._near: NearSums | None = None
        self._runner: Any = None
        self._meeting = threading.Thread()

    def build(self, config: EngineConfig, custom: Custom, seat: Seat, link: Link) -> Parts:
        """Join the others and build this rank's parts. Raises ValueError when they have other options, weights or parts
        of their own.
        """
        ours = {"options": repr(replace(config, model="", device=None)), "model": fingerprint(config.model)}
        ours["parts of its own"] = described(custom)
        wanted = os.environ.get(CHECK, "") not in ("", "0")
        problem, compare = link.exchange((ours, wanted), lambda told: (difference([a for a, _ in told]), told[0][1]))
        if problem:
            raise ValueError(problem)
        device = as_device(config.device)
        if device.type == "cuda":
            device = torch.device("cuda", seat.local_rank)
            torch.cuda.set_device(device)
        self._comm = comm = TorchCommunicator(seat.rank, config.tp_size, device)
        self._watching(lambda: comm.meet(seat.store(), seat.one_machine))
        if device.type == "cuda" and seat.one_machine:
            self._near = NearSums(seat.rank, config.tp_size, link)
        near = self._near.into_norm if self._near else None
        parts = rank_parts(replace(config, device=device), custom, comm, link, compare, near)
        self._runner = parts.runner
        return parts

    def _watching(self, work: Callable[[], None]) -> None:
        """work() in a thread of its own: where it waits, neither Ctrl-C nor the news of a rank's end gets through."""
        outcome: Future[None] = Future()

        def run() -> None:
            try:
                work()
                outcome.set_result(None)
            except BaseException as error:
                outcome.set_exception(error)

        self._meeting = threading.Thread(target=run, daemon=True, name="tp-meet")
        self._meeting.start()
        while not outcome.done():
            if self.broken is not None:
                raise CollectiveError("another rank has ended")
            wait([outcome], 0.05)
        outcome.result()

    def leave_to_parent(self) -> list[object]:
        """See forks.Shared."""
        if self.processes is not None:
            self.processes.close_lifelines()
        return [self._store, self._comm]

    def lost(self) -> None:
        """A process has ended unasked: end the others too, and whatever this rank is waiting for."""
        if self.processes is not None:
            if ended := self.processes.first_ended():
                self.broken = RankError(ended[0], "ended", f"exit status {ended[1]}")
            self.processes.end(orderly=False)
        if self._near is not None:
            self._near.abort()
        if self._comm is not None:
            self._comm.abort()

    def end(self, orderly: bool) -> None:
        """Let all ranks end, or end them, and give back lines, ports and connections. May be called twice."""
        if self.processes is not None:
            self.processes.end(orderly)
        if self.link is not None:
            self.link.close()
        # graphs that hold collectives first: NCCL waits for them
        if hasattr(self._runner, "close"):
            self._runner.close()
        if self._near is not None:
            self._near.close()
        if self._comm is not None:
            self._comm.close()
        # its end of the store goes last, and with it ends who may still be waiting there: a thread that woke up in C++
        # when the interpreter is being taken apart would abort the process
        self._store = None
        if self._meeting.ident is not None:
            self._meeting.join(PARTING)
