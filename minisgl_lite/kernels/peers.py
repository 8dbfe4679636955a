"""Sum over ranks, add and normalise in one kernel, through memory that the GPUs share. CUDA only. Chapter 13."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl

from . import pdl
from .pdl import inputs_ready

EMPTY = -(1 << 15)
"""The bits of -0.0 in 16 bits, which stand for "not here yet": who sends a -0.0 sends 0.0 in its place."""


@triton.jit
def _sum_add_rms_norm(  # type: ignore[no-untyped-def]
    x, stream, weight, out, places, state, eps,
    RANK: tl.constexpr, RANKS: tl.constexpr, ROWS: tl.constexpr, SIZE: tl.constexpr, BLOCK: tl.constexpr,
    EMPTY: tl.constexpr, PDL: tl.constexpr,
):  # fmt: skip
    row, lane = tl.program_id(0).to(tl.int64) * SIZE, tl.arange(0, BLOCK)
    inside = lane < SIZE
    weights = tl.load(weight + lane, mask=inside, other=0.0).to(tl.float32)
    inputs_ready(PDL)
    bits = tl.load(x + row + lane, mask=inside, other=0.0).to(tl.int16, bitcast=True)
    bits = tl.where(bits == EMPTY, tl.zeros_like(bits), bits)
    calls = tl.load(state)
    half = (calls % 2) * RANKS * ROWS * SIZE + row
    for rank in tl.static_range(RANKS):
        if rank != RANK:
            there = tl.load(places + rank).to(tl.pointer_type(tl.int16))
            tl.store(there + half + RANK * ROWS * SIZE + lane, bits, mask=inside)
    total = tl.load(stream + row + lane, mask=inside, other=0.0)
    here = tl.load(places + RANK).to(tl.pointer_type(tl.int16)) + half
    # in the order of the ranks, on every rank: all have the same sum, to the bit
    for rank in tl.static_range(RANKS):
        if rank == RANK:
            total += bits.to(x.dtype.element_ty, bitcast=True).to(tl.float32)
        else:
            place = here + rank * ROWS * SIZE + lane
            found = tl.load(place, mask=inside, other=0, volatile=True)
            while (tl.max((found == EMPTY).to(tl.int32), 0) > 0) & (tl.load(state + 2, volatile=True) == 0):
                found = tl.load(place, mask=inside, other=0, volatile=True)
            tl.store(place, tl.full((BLOCK,), EMPTY, tl.int16), mask=inside)
            total += found.to(x.dtype.element_ty, bitcast=True).to(tl.float32)
    tl.store(stream + row + lane, total, mask=inside)
    scale = tl.rsqrt(tl.sum(total * total, 0) / SIZE + eps)
    tl.store(out + row + lane, total * scale * weights, mask=inside)
    # the last program to end counts the call: by then, all have read the number
    if tl.atomic_add(state + 1, 1) == tl.num_programs(0) - 1:
        tl.store(state + 1, 0)
        tl.store(state, calls + 1)


class PeerSums:
    """One rank's end. A call pushes this rank's rows into the others' memory and waits until theirs have come.

    No flag says that a number is there: the number itself does, by not being EMPTY any more. A buffer has two halves,
    which take turns. Who has read a half makes it EMPTY again; the others write there two calls later, and to come
    that far they needed this rank's next rows, which it sends when it is done with this call.
    """

    def __init__(self, rank: int, buffers: Sequence[torch.Tensor]) -> None:
        """buffers: as `new_buffer` makes them, of all ranks, this one's own and, mapped, the others'.

        All ranks must have made theirs before any makes its first call.
        """
        self.rank, self.buffers = rank, list(buffers)
        _, self.ranks, self.rows, self.size = buffers[rank].shape
        device = buffers[rank].device
        self._places = torch.tensor([buffer.data_ptr() for buffer in buffers], device=device)
        # calls so far; programs of the present call that have ended; whether to stop waiting
        self._state = torch.zeros(3, dtype=torch.int64, device=device)
        self._aside = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._stop = torch.ones(1, dtype=torch.int64).pin_memory()

    def add_rms_norm(self, x: torch.Tensor, stream: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        """See kernels.norm.add_rms_norm, for the sum of all ranks' x; all call it together, with at most `rows` rows.

        x [T, size], 16 bits; stream [T, size], float32.
        """
        out = torch.empty_like(x)
        _sum_add_rms_norm[(x.shape[0],)](
            x, stream, weight, out, self._places, self._state, eps, RANK=self.rank, RANKS=self.ranks, ROWS=self.rows,
            SIZE=self.size, BLOCK=triton.next_power_of_2(self.size), EMPTY=EMPTY, num_warps=8,
            **pdl.options(),
        )  # fmt: skip
        return out

    def abort(self) -> None:
        """Make kernels that wait, and all to come, go on without what they wait for. From any thread."""
        # a copy, which needs no processor: they may all be taken by the next kernel, which has begun and waits as well
        with torch.cuda.stream(self._aside):
            self._state[2:].copy_(self._stop, non_blocking=True)


def new_buffer(ranks: int, rows: int, size: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Where a rank gets up to `rows` rows of `size` numbers of 16 bits from every rank: [2, ranks, rows, size]."""
    shape = (2, ranks, rows, size)
    return torch.full(shape, EMPTY, dtype=torch.int16, device=device).view(dtype)
