"""How the lines between ranks begin: every other rank calls rank 0, and says who it is. Chapter 13."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from queue import SimpleQueue

from .links import FollowerLink, LeaderLink

log = logging.getLogger(__name__)

PATIENCE = 15.0
"""Seconds after which rank 0 says for whom it waits."""


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
