"""Tensor-parallel ranks in one process: threads, pipes and the communicator's fake."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import contextmanager
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import torch

from minisgl_lite.assembly import Custom, Parts
from minisgl_lite.attention.causal import CausalAttention
from minisgl_lite.config import EngineConfig
from minisgl_lite.models.checkpoint import load
from minisgl_lite.parallel.comm import ThreadCommunicator
from minisgl_lite.parallel.follow import follow
from minisgl_lite.parallel.lead import Lead
from minisgl_lite.parallel.links import FollowerLink, LeaderLink
from minisgl_lite.parallel.parts import in_command, rank_parts
from minisgl_lite.parallel.shard import Shard


def on_threads(size: int, work: Callable[[ThreadCommunicator], Any]) -> list[Any]:
    """work(communicator) of every rank, each in a thread of its own. Raises what the first rank to fail raised."""
    results: list[Any] = [None] * size
    errors: list[BaseException] = []

    def run(comm: ThreadCommunicator) -> None:
        try:
            results[comm.rank] = work(comm)
        except BaseException as error:
            errors.append(error)
            comm.leave()

    threads = [threading.Thread(target=run, args=(comm,)) for comm in ThreadCommunicator.group(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if errors:
        raise next((e for e in errors if not isinstance(e, threading.BrokenBarrierError)), errors[0])
    return results


@torch.inference_mode()
def logits_of(decoder: Any, ids: list[int]) -> torch.Tensor:
    """[T, vocab] of one sequence, without a cache."""
    hidden = decoder.forward(torch.tensor(ids), torch.arange(len(ids)), CausalAttention())
    logits: torch.Tensor = decoder.logits(hidden)
    return logits


def split_logits(folder: Path, ids: list[int], size: int) -> list[torch.Tensor]:
    """What each of `size` ranks computes for a sequence."""
    return on_threads(
        size,
        lambda comm: logits_of(load(folder, device="cpu", split=lambda c: Shard(c, comm)).decoder, ids),
    )


class Alone:
    """A follower's hold of the others, where there is nothing to let go of."""

    broken = None

    def end(self, orderly: bool) -> None:
        pass


class Threads:
    """Rank 0's parts, with the other ranks serving in threads. ended: what the followers' exit statuses were."""

    def __init__(self, config: EngineConfig, compare: bool, customs: dict[int, Custom]) -> None:
        size, self.broken = config.tp_size, None
        pipes = [Pipe() for _ in range(size - 1)]
        comms = ThreadCommunicator.group(size)
        self.link = LeaderLink([ours for ours, _ in pipes])
        self.ended: dict[int, int] = {}
        self.followers: dict[int, Parts] = {}
        self.threads = [
            threading.Thread(target=self._follow, args=(config, comms[rank], FollowerLink(pipe[1]), compare, customs))
            for rank, pipe in enumerate(pipes, 1)
        ]
        for thread in self.threads:
            thread.start()
        self.comms = comms
        self.lead = Lead(self.link, self)
        self.parts = in_command(
            self.lead, lambda: rank_parts(config, customs.get(0, Custom()), comms[0], self.link, compare)
        )

    def _follow(
        self, config: EngineConfig, comm: ThreadCommunicator, link: FollowerLink, compare: bool, customs: Any
    ) -> None:
        def build() -> Parts:
            self.followers[comm.rank] = rank_parts(config, customs.get(comm.rank, Custom()), comm, link, compare)
            return self.followers[comm.rank]

        self.ended[comm.rank] = follow(link, Alone(), build)
        if self.ended[comm.rank]:
            comm.leave()

    def end(self, orderly: bool) -> None:
        if not orderly:
            self.comms[0].leave()
            self.link.close()
        for thread in self.threads:
            thread.join(30)
        self.link.close()


@contextmanager
def ranks_in_threads(
    folder: Path, compare: bool = False, customs: dict[int, Custom] | None = None, **options: Any
) -> Any:
    """An engine on ranks that are threads; `customs`: other parts for some ranks."""
    options = {"device": "cpu", "tp_size": 2, "num_pages": 64, "page_size": 4, **options}
    config = EngineConfig(model=str(folder), **options)
    threads = Threads(config, compare, customs or {})
    try:
        yield threads
    finally:
        threads.parts.close()
