"""GPUs of one machine that reach each other's memory: sums of few rows go that way, in one kernel. Chapter 13.

A decode step adds up a few kilobytes, twice a layer. NCCL is made for large sums, and takes longer for such a small one
than the matrix product before it. A rank that writes straight into the others' memory needs no kernel for the sum: the
one that adds to the stream and normalises takes the numbers as they come.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.multiprocessing import reductions

from ..models.decoder import Decoder, RMSNorm
from .links import Link

if TYPE_CHECKING:
    from ..kernels.fused import IntoNorm
    from ..kernels.peers import PeerSums

log = logging.getLogger(__name__)

MOST_ROWS = 256
"""Sums of more rows are left to the communicator: they are large enough for it."""


class NearSums:
    """One rank's hold of the memory that the ranks share. Ranks that cannot reach each other have none."""

    def __init__(self, rank: int, size: int, link: Link) -> None:
        self._rank, self._size, self._link = rank, size, link
        self._sums: PeerSums | None = None

    def into_norm(self, decoder: Decoder) -> IntoNorm:
        """How this rank goes from a product to the next norm; all ranks call this together.

        Falls back to the communicator's sum, on all ranks, where one of them cannot reach another's memory.
        """
        from ..kernels.fused import into_norm
        from ..kernels.peers import PeerSums, new_buffer

        weight = decoder.norm.weight
        own = new_buffer(self._size, MOST_ROWS, weight.shape[0], weight.dtype, weight.device)
        # filled before any other rank can write to it
        torch.cuda.synchronize(weight.device)
        handles = self._link.exchange(handle_of(own), list)
        buffers, problem = [own] * self._size, ""
        try:
            for rank in range(self._size):
                if rank != self._rank:
                    buffers[rank] = mapped(handles[rank], rank, weight.device)
        except (OSError, RuntimeError) as error:
            problem = f"rank {self._rank}: {error}"
        if problem := self._link.exchange(problem, first_problem):
            log.info("small sums go through NCCL too: %s", problem)
            return into_norm
        self._sums = PeerSums(self._rank, buffers)
        return _SumIntoNorm(self._sums)

    def abort(self) -> None:
        """Let kernels that wait for another rank go on without. From any thread."""
        if self._sums is not None:
            self._sums.abort()

    def close(self) -> None:
        """Let go of the others' memory. No step may run afterwards. May be called twice."""
        if self._sums is not None:
            self._sums.buffers.clear()


def first_problem(told: Sequence[str]) -> str:
    """What the first rank says that has one; "" when none has."""
    return next((problem for problem in told if problem), "")


def handle_of(tensor: torch.Tensor) -> Any:
    """What another process of this machine needs to use the memory of `tensor`; can be pickled."""
    reduced: Any = reductions.reduce_tensor(tensor)  # type: ignore[no-untyped-call]
    return reduced[1]


def mapped(handle: Any, rank: int, device: torch.device) -> torch.Tensor:
    """The tensor of another process, on GPU `rank`, such that kernels on `device` can use it.

    Raises RuntimeError where that is not possible.
    """
    if not torch.cuda.can_device_access_peer(device, rank):
        raise RuntimeError(f"{device} cannot reach the memory of cuda:{rank}")
    rebuild: Any = reductions.rebuild_cuda_tensor
    # left alone, it would be opened on the GPU on which it lies: each of them would need a context there
    tensor: torch.Tensor = rebuild(*handle[:6], device.index, *handle[7:])
    return tensor


class _SumIntoNorm:
    """See IntoNorm."""

    def __init__(self, sums: PeerSums) -> None:
        self._sums = sums

    def __call__(self, layer: nn.Module, x: torch.Tensor, stream: torch.Tensor, norm: RMSNorm) -> torch.Tensor:
        from ..kernels.fused import into_norm
        from ..kernels.matvec import linear

        if x.shape[0] > self._sums.rows or layer.bias is not None:
            return into_norm(layer, x, stream, norm)
        part = linear(x, layer.weight)
        return self._sums.add_rms_norm(part, stream, norm.weight, norm.eps)
