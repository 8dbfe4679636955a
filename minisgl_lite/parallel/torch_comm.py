"""The communicator behind which torch.distributed stands: gloo between CPUs, NCCL between GPUs. Chapter 13."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

SLICE = timedelta(seconds=1)
"""Between CPUs, a rank that waits for a collective looks up this often: Ctrl-C is heard then."""

TIMEOUT = timedelta(minutes=10)
"""How long a rank waits in a collective for one that is alive but does not come."""


def open_store(port: int | None = None) -> Any:
    """A store of torch.distributed on this machine: a new one, at a port that is free, or the one at `port`."""
    server = port is None
    return dist.TCPStore("127.0.0.1", port or 0, is_master=server, wait_for_workers=False)  # type: ignore[attr-defined]


def meet_torchrun() -> tuple[Any, int, int]:
    """Where torchrun has started this process: (the store that all its ranks see, rank, number of ranks)."""
    store, rank, size = next(iter(dist.rendezvous("env://", timeout=TIMEOUT)))  # type: ignore[attr-defined]
    return store, rank, size


class CollectiveError(RuntimeError):
    """A collective has failed: most often because another rank is gone."""


def require_backend(kind: str) -> None:
    """Raise RuntimeError, saying what is missing, unless ranks on devices of `kind` ("cpu", "cuda") can talk here."""
    name = "NCCL" if kind == "cuda" else "gloo"
    there = dist.is_available() and (dist.is_nccl_available() if kind == "cuda" else dist.is_gloo_available())
    if not there:
        raise RuntimeError(f"tp_size above 1 needs torch.distributed with {name}; this torch was built without it")


class TorchCommunicator:
    """See Communicator. Holds a process group of its own: nothing global is set, several can be open at a time."""

    def __init__(self, rank: int, size: int, device: torch.device) -> None:
        """To be called next: `meet`."""
        self.rank, self.size = rank, size
        self._device, self._cuda = device, device.type == "cuda"
        self._options = [_in_line(f"{what}Options") for what in ("Allreduce", "Allgather", "Broadcast")]
        self._group: Any = None

    def meet(self, store: Any, local: bool) -> None:
        """Join the others; returns when all are here, and until then hears no signal.

        store: a torch.distributed Store that all ranks see. local: all ranks are on this machine.
        """
        if self._cuda:
            torch.cuda.set_device(self._device)  # of this thread
            self._group = _nccl(store, self.rank, self.size)
        else:
            self._group = _gloo(store, self.rank, self.size, local)
        # NCCL sets its connections up with the first collective, which must not be one that is captured in a graph
        self.all_reduce(torch.zeros(1, device=self._device))
        if self._cuda:
            torch.cuda.synchronize(self._device)

    def all_reduce(self, x: torch.Tensor) -> torch.Tensor:
        """See Communicator."""
        if x.numel():
            self._wait(lambda: self._group.allreduce([x], self._options[0]))
        return x

    def all_gather(self, x: torch.Tensor) -> torch.Tensor:
        """See Communicator."""
        out = x.new_empty(self.size * x.shape[0], *x.shape[1:])
        if x.numel():
            self._wait(lambda: self._group._allgather_base(out, x.contiguous(), self._options[1]))
        return out.view(self.size, *x.shape)

    def broadcast(self, x: torch.Tensor) -> torch.Tensor:
        """See Communicator."""
        if x.numel():
            self._wait(lambda: self._group.broadcast([x], self._options[2]))
        return x

    def _wait(self, start: Any) -> None:
        # on a GPU this does not wait for the sum: it makes the current stream wait for it. NCCL in line gives no work
        work = None
        try:
            work = start()
            if work is not None:
                self._finish(work)
        except RuntimeError as error:
            raise CollectiveError(str(error)) from error
        finally:
            # who keeps the exception keeps this frame; it must not keep the group, and with it the store's port
            work = None

    def _finish(self, work: Any) -> None:
        while not self._cuda and not work.is_completed():
            try:
                work.wait(SLICE)
            except RuntimeError:
                # a slice has passed, or the collective has failed: then the last wait says why
                continue
        work.wait()

    def abort(self) -> None:
        """Make collectives that are under way fail, from any thread. gloo's do by themselves when a rank is gone."""
        if self._cuda and self._group is not None:
            self._group.abort()

    def close(self) -> None:
        """Leave the group. Nothing may be called afterwards, except for `close`.

        CUDA graphs that hold collectives must be gone: NCCL waits for them.
        """
        self.abort()
        self._group = None


def _in_line(name: str) -> Any:
    """Options of a collective that is to run on the current stream, where this torch can do so; else on its own."""
    options = getattr(dist.distributed_c10d, name)()
    if hasattr(options, "asyncOp"):
        options.asyncOp = False
    return options


def _nccl(store: Any, rank: int, size: int) -> Any:
    # NCCL reads its own settings, such as NCCL_NVLS_ENABLE (NVLink multicast), from the environment, as it was found
    options = dist.ProcessGroupNCCL.Options()
    options._timeout = TIMEOUT
    return dist.ProcessGroupNCCL(store, rank, size, options)


def _gloo(store: Any, rank: int, size: int, local: bool) -> Any:
    if not local:
        return dist.ProcessGroupGloo(store, rank, size, TIMEOUT)
    # left alone, gloo would look this machine up by its name, which need not lead anywhere
    options = dist.ProcessGroupGloo._Options()  # type: ignore[attr-defined]
    options._timeout = TIMEOUT
    options._devices = [dist.ProcessGroupGloo.create_device(hostname="127.0.0.1")]
    return dist.ProcessGroupGloo(store, rank, size, options)
