"""Rank 0's lines to the other ranks: orders go out, votes and last words come back. No tensors. Chapter 13."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import wait
from typing import Any, Literal, Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")
Cause = Literal["failed", "ended", "lost"]
"""Of a rank's end: it raised an exception; it is gone without a word; it lost touch with another rank."""


class RankError(RuntimeError):
    """A rank cannot go on, and so none can. The message says which rank, and why."""

    def __init__(self, rank: int, cause: Cause, detail: str = "") -> None:
        super().__init__(rank, cause, detail)
        self.rank, self.cause, self.detail = rank, cause, detail

    def __str__(self) -> str:
        what = {"failed": "failed", "ended": "has ended without a word", "lost": "has lost touch with another rank"}
        return f"rank {self.rank} {what[self.cause]}{self.detail and ': '}{self.detail}"


class Link(Protocol):
    """What the parts of a rank need of its line to the others."""

    def exchange(self, value: T, judge: Callable[[list[T]], R]) -> R:
        """judge(the values of all ranks, in order), on every rank; rank 0 calls it.

        All ranks exchange in the same order. For decisions, not for tensors.
        """
        ...


class LeaderLink:
    """Rank 0's end: lines[i] goes to rank i + 1."""

    def __init__(self, lines: Sequence[Any]) -> None:
        """lines: Connections of multiprocessing. They belong to this link from now on."""
        self.lines = list(lines)

    def tell(self, message: object) -> None:
        """Send `message` to every rank. Raises RankError when one is gone."""
        for rank, line in enumerate(self.lines, 1):
            try:
                line.send(message)
            except OSError:
                raise self.failure(1.0) or RankError(rank, "ended") from None

    def hear(self) -> list[Any]:
        """Wait for a vote of every rank, in their order. Raises RankError when one fails or is gone."""
        return [self._hear(rank) for rank in range(1, len(self.lines) + 1)]

    def _hear(self, rank: int) -> Any:
        try:
            kind, message = self.lines[rank - 1].recv()
        except (EOFError, OSError):
            raise RankError(rank, "ended") from None
        if kind != "vote":
            raise RankError(rank, kind, message)
        return message

    def exchange(self, value: T, judge: Callable[[list[T]], R]) -> R:
        """See Link."""
        verdict = judge([value, *self.hear()])
        self.tell(verdict)
        return verdict

    def failure(self, seconds: float) -> RankError | None:
        """The cause of what went wrong: who raised an exception, else who is gone; None if all live after `seconds`."""
        ranks = {line: rank for rank, line in enumerate(self.lines, 1)}
        found: list[RankError] = []
        until = time.monotonic() + seconds
        while ranks and (left := until - time.monotonic()) > 0:
            for line in wait(list(ranks), left):
                try:
                    self._hear(ranks[line])
                except RankError as error:
                    if error.cause == "failed":
                        return error
                    found.append(error)
                    del ranks[line]
        return min(found, key=lambda error: error.cause, default=None)

    def close(self) -> None:
        """Cut all lines. May be called twice."""
        for line in self.lines:
            line.close()


class FollowerLink:
    """The end of every other rank."""

    def __init__(self, line: Any) -> None:
        """line: a Connection of multiprocessing; belongs to this link from now on."""
        self.line = line

    def receive(self) -> Any:
        """Wait for what rank 0 says, however long. Raises EOFError when it is gone."""
        return self.line.recv()

    def exchange(self, value: T, judge: Callable[[list[T]], R]) -> R:
        """See Link."""
        self.line.send(("vote", value))
        verdict: R = self.line.recv()
        return verdict

    def report(self, cause: Cause, detail: str) -> None:
        """Last words. Nobody may be there to hear them."""
        try:
            self.line.send((cause, detail))
        except OSError:
            return

    def close(self) -> None:
        """Cut the line."""
        self.line.close()
