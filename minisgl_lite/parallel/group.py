"""From tp_size to ranks that are ready: started here, or by torchrun. Chapter 13.

LLM(..., tp_size=2) in a script, notebook or test         torchrun --nproc-per-node 2 script.py
rank 0  this process                                      each process builds LLM(..., tp_size=2);
rank 1  a process that is started here                    in all but rank 0 it serves rank 0 and never returns
"""

from __future__ import annotations

import json
import os
import pickle
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from ..assembly import Custom, Parts, context_length
from ..config import EngineConfig
from ..models.checkpoint import Checkpoint, as_device, locate
from ..models.config import ModelConfig
from .follow import follow
from .lead import Lead
from .links import FollowerLink, LeaderLink, Link, RankError, accept, call
from .parts import in_command, rank_parts
from .processes import Processes
from .shard import require_divisible
from .torch_comm import TIMEOUT, TorchCommunicator, meet_torchrun, open_store, require_backend

CHECK = "MINISGL_LITE_CHECK_RANKS"
"""Set this environment variable to 1, and every round is compared between the ranks before it runs."""
MEETING = "minisgl_lite"
"""Key of torchrun's store under which rank 0 says where it can be called."""


def launch(config: EngineConfig, custom: Custom) -> Parts:
    """Rank 0's parts of an engine on config.tp_size ranks; the other ranks run when this returns.

    Raises ValueError, before anything is started, for a model that cannot be split so and for more ranks than GPUs;
    what another rank raises while it is built comes as RankError.
    """
    device = as_device(config.device)
    if isinstance(config.model, Checkpoint):
        raise ValueError("with tp_size above 1, model must be a folder or a name: a loaded checkpoint cannot be split")
    if device.index is not None:
        raise ValueError(f"device is {str(device)!r}; with tp_size above 1, rank r takes device r: give the type only")
    require_backend(device.type)
    started = int(os.environ.get("WORLD_SIZE", "1")) if "RANK" in os.environ else 1
    if started > 1 and started != config.tp_size:
        raise ValueError(f"tp_size is {config.tp_size}, but WORLD_SIZE is {started}: torchrun must start as many ranks")
    here = int(os.environ.get("LOCAL_WORLD_SIZE", started)) if started > 1 else config.tp_size
    if device.type == "cuda" and here > torch.cuda.device_count():
        raise ValueError(f"tp_size asks for {here} GPUs on this machine, which has {torch.cuda.device_count()}")
    if custom.load is None:
        folder = locate(config.model)
        model = ModelConfig.from_folder(folder, config.max_seq_len)
        require_divisible(model, config.tp_size)
        context_length(config, model.max_seq_len)
        config = replace(config, model=str(folder))
    return _start(config, custom) if started == 1 else _join(config, custom)


@dataclass(frozen=True)
class Seat:
    """Where a rank sits. store: opens what torch.distributed meets at. local_rank: its number on its machine."""

    rank: int
    store: Callable[[], Any]
    local_rank: int
    one_machine: bool


class Team:
    """What rank 0 holds of the others, and how it lets go."""

    def __init__(self, port: int = 0) -> None:
        """port: the one at which torch.distributed's store listens, where it is ours."""
        self.port = port
        self.broken: RankError | None = None
        self.link: LeaderLink | None = None
        self.processes: Processes | None = None
        self.comm: TorchCommunicator | None = None

    def lost(self) -> None:
        """One has ended: end the others too, and whatever rank 0 is waiting for."""
        if self.processes is not None and (ended := self.processes.first_ended()):
            self.broken = RankError(ended[0], "ended", f"exit status {ended[1]}")
        if self.processes is not None:
            self.processes.end(orderly=False)
        if self.comm is not None:
            self.comm.abort()

    def end(self, orderly: bool) -> None:
        """Let all ranks end, or end them, and give back lines, ports and connections."""
        if self.processes is not None:
            self.processes.end(orderly)
        if self.link is not None:
            self.link.close()
        if self.comm is not None:
            self.comm.close()


def _start(config: EngineConfig, custom: Custom) -> Parts:
    """Rank 0's parts; the other ranks are processes that are started here."""
    try:
        order = pickle.dumps((config, custom))
    except Exception as error:
        raise ValueError(f"custom must reach the other ranks: name parts that can be imported ({error})") from None
    store, server = open_store(), socket.create_server(("127.0.0.1", 0))
    team, key = Team(store.port), secrets.token_bytes(32)
    threads = max(1, torch.get_num_threads() // config.tp_size)
    jobs = [(rank, server.getsockname(), key, store.port, threads) for rank in range(1, config.tp_size)]
    try:
        team.processes = Processes(jobs, team.lost)
        alive = team.processes.require_alive
        team.link = accept(server, key, config.tp_size - 1, TIMEOUT.total_seconds(), alive)
        team.link.tell(order)
    except BaseException:
        server.close()
        team.end(orderly=False)
        raise
    return _command(config, custom, Seat(0, lambda: store, 0, True), team, team.link)


def _command(config: EngineConfig, custom: Custom, seat: Seat, team: Team, link: LeaderLink) -> Parts:
    def build() -> Parts:
        here, compare, team.comm = _meet(config, seat, link)
        return rank_parts(here, custom, team.comm, link, compare)

    return in_command(Lead(link, team), build)


def _follow(order: Callable[[], tuple[EngineConfig, Custom]], seat: Seat, link: FollowerLink) -> int:
    def build() -> Parts:
        config, custom = order()
        here, compare, comm = _meet(config, seat, link)
        return rank_parts(here, custom, comm, link, compare)

    return follow(link, build)


def follow_at(rank: int, address: tuple[str, int], key: bytes, port: int, threads: int) -> int:
    """In a process that `_start` has started: be rank `rank` until rank 0 closes; the exit status."""
    torch.set_num_threads(threads)
    link = call(address, key, rank, TIMEOUT.total_seconds())
    seat = Seat(rank, lambda: open_store(port), rank, True)
    return _follow(lambda: pickle.loads(link.receive()), seat, link)


def _join(config: EngineConfig, custom: Custom) -> Parts:
    """Rank 0's parts, where torchrun has started all ranks. In the others: serves rank 0, then raises SystemExit."""
    store, rank, size = meet_torchrun()
    one_machine = int(os.environ.get("LOCAL_WORLD_SIZE", size)) == size
    seat = Seat(rank, lambda: store, int(os.environ.get("LOCAL_RANK", rank)), one_machine)
    if rank:
        host, at, key = json.loads(store.get(MEETING))
        line = call((host, at), bytes.fromhex(key), rank, TIMEOUT.total_seconds())
        raise SystemExit(_follow(lambda: (config, custom), seat, line))
    server, team, secret = socket.create_server(("", 0)), Team(), secrets.token_bytes(32)
    store.set(MEETING, json.dumps([os.environ["MASTER_ADDR"], server.getsockname()[1], secret.hex()]))
    team.link = accept(server, secret, size - 1, TIMEOUT.total_seconds())
    return _command(config, custom, seat, team, team.link)


def _meet(config: EngineConfig, seat: Seat, link: Link) -> tuple[EngineConfig, bool, TorchCommunicator]:
    """Join the other ranks: this rank's options, whether rounds are to be compared, the communicator."""
    ours = (repr(replace(config, model="", device=None)), os.environ.get(CHECK, "") not in ("", "0"))
    problem, compare = link.exchange(ours, _same_options)
    if problem:
        raise ValueError(problem)
    device = as_device(config.device)
    if device.type == "cuda":
        device = torch.device("cuda", seat.local_rank)
        torch.cuda.set_device(device)
    comm = TorchCommunicator(seat.store(), seat.rank, config.tp_size, device, seat.one_machine)
    return replace(config, device=device), compare, comm


def _same_options(told: list[tuple[str, bool]]) -> tuple[str, bool]:
    """("" or how a rank's options differ from rank 0's, whether rank 0 wants every round compared)."""
    options, compare = told[0]
    for rank, (theirs, _) in enumerate(told):
        if theirs != options:
            return f"rank {rank} was given {theirs}, but rank 0 {options}", compare
    return "", compare
