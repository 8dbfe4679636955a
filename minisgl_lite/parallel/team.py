"""What a rank holds of the others: it joins them, and it lets go of them. Chapter 13."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from ..assembly import Custom, Parts
from ..config import EngineConfig
from ..models.checkpoint import as_device
from .links import LeaderLink, Link, RankError
from .near import NearSums
from .parts import rank_parts
from .processes import Processes
from .torch_comm import TorchCommunicator

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

    broken: who has ended without having been told to.
    """

    def __init__(self, port: int = 0) -> None:
        """port: the one at which torch.distributed's store listens, where it is this process's."""
        self.port = port
        self.broken: RankError | None = None
        self.link: LeaderLink | None = None
        self.processes: Processes | None = None
        self._comm: TorchCommunicator | None = None
        self._near: NearSums | None = None
        self._runner: Any = None

    def build(self, config: EngineConfig, custom: Custom, seat: Seat, link: Link) -> Parts:
        """Join the others and build this rank's parts. Raises ValueError when they have other options."""
        ours = (repr(replace(config, model="", device=None)), os.environ.get(CHECK, "") not in ("", "0"))
        problem, compare = link.exchange(ours, _same_options)
        if problem:
            raise ValueError(problem)
        device = as_device(config.device)
        if device.type == "cuda":
            device = torch.device("cuda", seat.local_rank)
            torch.cuda.set_device(device)
        self._comm = TorchCommunicator(seat.store(), seat.rank, config.tp_size, device, seat.one_machine)
        if device.type == "cuda" and seat.one_machine:
            self._near = NearSums(seat.rank, config.tp_size, link)
        near = self._near.into_norm if self._near else None
        parts = rank_parts(replace(config, device=device), custom, self._comm, link, compare, near)
        self._runner = parts.runner
        return parts

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


def _same_options(told: list[tuple[str, bool]]) -> tuple[str, bool]:
    """("" or how a rank's options differ from rank 0's, whether rank 0 wants every round compared)."""
    options, compare = told[0]
    for rank, (theirs, _) in enumerate(told):
        if theirs != options:
            return f"rank {rank} was given {theirs}, but rank 0 {options}", compare
    return "", compare
