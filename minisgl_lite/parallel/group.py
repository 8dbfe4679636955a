"""From tp_size to ranks that are ready: started here, or by torchrun. Chapter 13.

LLM(..., tp_size=2) in a script, a notebook or a test: rank 0 is that process, the others are started here.
torchrun --nproc-per-node 2 script.py: each process builds the LLM; in all but rank 0 it serves rank 0 and ends there.
"""

from __future__ import annotations

import json
import os
import pickle
import pickletools
import secrets
import signal
import socket
import threading
from dataclasses import replace

import torch

from ..assembly import Custom, Parts
from ..config import EngineConfig
from ..limits import context_length
from ..models.checkpoint import Checkpoint, as_device, as_dtype, locate
from ..models.config import ModelConfig
from .calls import accept, call
from .follow import follow
from .lead import Lead
from .parts import in_command
from .processes import Processes
from .shard import require_divisible
from .team import Seat, Team
from .torch_comm import TIMEOUT, meet_torchrun, open_store, require_backend

_joined = False

MEETING = "minisgl_lite"
"""Key of torchrun's store under which rank 0 says where it can be called."""


def launch(config: EngineConfig, custom: Custom) -> Parts:
    """Rank 0's parts of an engine on config.tp_size ranks; the other ranks run when this returns.

    Raises ValueError, before anything is started, for a model that cannot be split so and for more ranks than GPUs;
    what another rank raises while it is built comes as RankError.
    """
    device = as_device(config.device)
    if config.dtype is not None:
        as_dtype(config.dtype)
    if isinstance(config.model, Checkpoint):
        raise ValueError("with tp_size above 1, model must be a folder or a name: a loaded checkpoint cannot be split")
    if device.index is not None:
        raise ValueError(f"device is {str(device)!r}; with tp_size above 1, rank r takes device r: give the type only")
    require_backend(device.type)
    names = ("model", "device", "cache_type", "attention_backend")
    given = {name: value for name in names if isinstance(value := getattr(config, name), str)}
    # of str itself: the other ranks do not have the classes of a caller's script
    config = replace(config, **{name: str.__str__(value) for name, value in given.items()})
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


def _start(config: EngineConfig, custom: Custom) -> Parts:
    """Rank 0's parts; the other ranks are processes that are started here."""
    order = order_of(config, custom)
    server = socket.create_server(("127.0.0.1", 0))
    team, key = Team(open_store()), secrets.token_bytes(32)
    threads, port = max(1, torch.get_num_threads() // config.tp_size), team.port
    jobs = [(rank, server.getsockname(), key, port, threads) for rank in range(1, config.tp_size)]
    try:
        team.processes = Processes(jobs, team.lost)
        alive = team.processes.require_alive
        team.link = accept(server, key, config.tp_size - 1, TIMEOUT.total_seconds(), alive)
        team.link.tell(order)
    except BaseException:
        server.close()
        team.end(orderly=False)
        raise
    seat, link = Seat(0, lambda: open_store(port), 0, True), team.link
    return in_command(Lead(link, team), lambda: team.build(config, custom, seat, link))


def order_of(config: EngineConfig, custom: Custom) -> bytes:
    """What a rank is told to build. Raises ValueError for what another process cannot have."""
    try:
        parts = pickle.dumps(custom)
    except Exception as error:
        raise ValueError(f"custom must reach the other ranks: name parts that can be imported ({error})") from None
    if any(arg == "__main__" or str(arg).startswith("__main__ ") for _, arg, _ in pickletools.genops(parts)):
        raise ValueError("custom must reach the other ranks, which have no __main__: put its parts into a module")
    return pickle.dumps((config, custom))


def follow_at(rank: int, address: tuple[str, int], key: bytes, port: int, threads: int) -> int:
    """In a process that `_start` has started: be rank `rank` until rank 0 closes; the exit status."""
    torch.set_num_threads(threads)
    link = call(address, key, rank, TIMEOUT.total_seconds())
    team, seat = Team(), Seat(rank, lambda: open_store(port), rank, True)

    def build() -> Parts:
        config, custom = pickle.loads(link.receive())
        return team.build(config, custom, seat, link)

    return follow(link, team, build)


def _join(config: EngineConfig, custom: Custom) -> Parts:
    """Rank 0's parts, where torchrun has started all ranks. In the others: serves rank 0, then raises SystemExit.

    Raises RuntimeError the second time: then there are no others any more.
    """
    global _joined
    if _joined:
        raise RuntimeError("under torchrun a script can have one LLM with tp_size above 1: the others serve the first")
    _joined = True
    store, rank, size = meet_torchrun()
    team, one_machine = Team(), int(os.environ.get("LOCAL_WORLD_SIZE", size)) == size
    seat = Seat(rank, lambda: store, int(os.environ.get("LOCAL_RANK", rank)), one_machine)
    if rank:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # rank 0 decides what Ctrl-C ends
        host, at, key = json.loads(store.get(MEETING))
        line = call((host, at), bytes.fromhex(key), rank, TIMEOUT.total_seconds())
        raise SystemExit(follow(line, team, lambda: team.build(config, custom, seat, line)))
    server, secret = socket.create_server(("", 0)), secrets.token_bytes(32)
    store.set(MEETING, json.dumps([os.environ["MASTER_ADDR"], server.getsockname()[1], secret.hex()]))
    team.link = accept(server, secret, size - 1, TIMEOUT.total_seconds())
    link = team.link
    return in_command(Lead(link, team), lambda: team.build(config, custom, seat, link))
