"""What ranks do together with tensors, and its fake: ranks that are threads. Chapter 13."""

from __future__ import annotations

import threading
from typing import Protocol

import torch


class Communicator(Protocol):
    """A rank's line to the others. Every rank calls the same methods in the same order, with equal shapes and dtypes.

    Nothing here waits for a GPU: a call joins the work of the current stream, like any other operation, so that it can
    be captured in a CUDA graph.
    """

    rank: int
    size: int

    def all_reduce(self, x: torch.Tensor) -> torch.Tensor:
        """The sum of all ranks' x, on every rank, the same to the bit. x is overwritten and returned."""
        ...

    def all_gather(self, x: torch.Tensor) -> torch.Tensor:
        """All ranks' x in the order of the ranks: [N, ...] -> [size, N, ...]."""
        ...

    def broadcast(self, x: torch.Tensor) -> torch.Tensor:
        """Rank 0's x, on every rank. x is overwritten and returned."""
        ...


class _Room:
    """What the threads of one group share: a place for each, and a barrier at which they wait for one another."""

    def __init__(self, size: int) -> None:
        self.places: list[torch.Tensor | None] = [None] * size
        self.barrier = threading.Barrier(size)


class ThreadCommunicator:
    """The fake: the ranks are threads of one process. Counts what it moves.

    reduced: numbers that went through `all_reduce`, of this rank. gathered: numbers that it brought to `all_gather`.
    """

    def __init__(self, rank: int, room: _Room) -> None:
        self.rank, self.size = rank, len(room.places)
        self.reduced = self.gathered = 0
        self._room = room

    @staticmethod
    def group(size: int) -> list[ThreadCommunicator]:
        """One communicator for each of `size` threads."""
        room = _Room(size)
        return [ThreadCommunicator(rank, room) for rank in range(size)]

    def all_reduce(self, x: torch.Tensor) -> torch.Tensor:
        """See Communicator."""
        self.reduced += x.numel()
        return x.copy_(torch.stack(self._exchange(x)).sum(0))

    def all_gather(self, x: torch.Tensor) -> torch.Tensor:
        """See Communicator."""
        self.gathered += x.numel()
        return torch.stack(self._exchange(x))

    def broadcast(self, x: torch.Tensor) -> torch.Tensor:
        """See Communicator."""
        return x.copy_(self._exchange(x)[0])

    def leave(self) -> None:
        """Make every call of every rank raise BrokenBarrierError from now on: for a rank that cannot go on."""
        self._room.barrier.abort()

    def _exchange(self, x: torch.Tensor) -> list[torch.Tensor]:
        """Copies of what all ranks bring, in the order of the ranks."""
        room = self._room
        room.places[self.rank] = x.clone()
        room.barrier.wait()
        found = [place for place in room.places if place is not None]
        # nobody may bring the next tensor before everybody has seen this one
        room.barrier.wait()
        return found
