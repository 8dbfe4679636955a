"""Rank 0's lines to the other ranks: orders go out, votes and last words come back. No tensors. Chapter 13."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge, wait
from queue import SimpleQueue
from typing import Any, Literal, Protocol, TypeVar

log = logging.getLogger(__name__)

PATIENCE = 15.0
"""Seconds after which rank 0 says for whom it waits."""

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


def _line(sock: socket.socket) -> Connection:
    # one small message after the other goes one way: Nagle's algorithm would hold each back for the last one's receipt
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Connection(sock.detach())


class _Door:
    """Where the other ranks come in. Each caller has a thread: one that says nothing keeps nobody else waiting."""

    def __init__(self, key: bytes) -> None:
        self.arrived: SimpleQueue[tuple[int, Connection]] = SimpleQueue()
        self._key = key
        self._strangers: set[socket.socket] = set()

    def greet(self, sock: socket.socket) -> None:
        """Begin to ask who it is; a rank is put into `arrived`, with its line."""
        sock.setblocking(True)
        twin = sock.dup()  # the line takes the socket itself
        self._strangers.add(twin)
        threading.Thread(target=self._ask, args=(_line(sock), twin), daemon=True, name="tp-greet").start()

    def _ask(self, line: Connection, twin: socket.socket) -> None:
        try:
            deliver_challenge(line, self._key)
            answer_challenge(line, self._key)
            self.arrived.put((line.recv(), line))
        except (AuthenticationError, EOFError, OSError):
            line.close()
        finally:
            self._strangers.discard(twin)
            twin.close()

    def close(self) -> None:
        """Cut off who has not said who it is; the threads end."""
        for twin in list(self._strangers):
            with suppress(OSError):
                twin.shutdown(socket.SHUT_RDWR)


def accept(
    server: socket.socket, key: bytes, count: int, seconds: float, still: Callable[[], object] = lambda: None
) -> LeaderLink:
    """Wait until ranks 1 .. count have called, then close `server`; who has another key is turned away.

    still: called several times a second, to raise when somebody will never call. Raises TimeoutError after `seconds`.
    """
    lines: dict[int, Connection] = {}
    door = _Door(key)
    until, patient = time.monotonic() + seconds, time.monotonic() + PATIENCE
    with server, closing(door):
        server.settimeout(0.1)
        while len(lines) < count:
            still()
            missing = [rank for rank in range(1, count + 1) if rank not in lines]
            if time.monotonic() > until:
                raise TimeoutError(f"ranks {missing} have not called within {seconds:g} s")
            if time.monotonic() > patient:
                log.warning("waiting for ranks %s: each must make the same LLM", missing)
                patient = until
            with suppress(TimeoutError):
                door.greet(server.accept()[0])
            while not door.arrived.empty():
                rank, line = door.arrived.get()
                lines[rank] = line
    return LeaderLink([lines[rank] for rank in range(1, count + 1)])


def call(address: tuple[str, int], key: bytes, rank: int, seconds: float) -> FollowerLink:
    """Call rank 0. Raises OSError when it does not answer, AuthenticationError when it has another key."""
    sock = socket.create_connection(address, timeout=seconds)
    sock.setblocking(True)
    line = _line(sock)
    answer_challenge(line, key)
    deliver_challenge(line, key)
    line.send(rank)
    return FollowerLink(line)
