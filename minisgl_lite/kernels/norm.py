"""Add and normalise in one kernel. CUDA only. Chapter 12."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from . import pdl
from .pdl import inputs_ready


@triton.jit
def _add_rms_norm(  # type: ignore[no-untyped-def]
    x, stream, weight, out, eps, SIZE: tl.constexpr, BLOCK: tl.constexpr, ADD: tl.constexpr, PDL: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * SIZE
    lane = tl.arange(0, BLOCK)
    inside = lane < SIZE
    weights = tl.load(weight + lane, mask=inside, other=0.0).to(tl.float32)
    inputs_ready(PDL)
    value = tl.load(stream + row + lane, mask=inside, other=0.0).to(tl.float32)
    if ADD:
        value += tl.load(x + row + lane, mask=inside, other=0.0).to(tl.float32)
        tl.store(stream + row + lane, value, mask=inside)
    scale = tl.rsqrt(tl.sum(value * value, 0) / SIZE + eps)
    tl.store(out + row + lane, value * scale * weights, mask=inside)


def add_rms_norm(x: torch.Tensor | None, stream: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """stream += x, in place; returns the normalised stream in the weight's dtype. x, stream [T, size]; x may be None.

    The stream may be float32 while x is bfloat16: its sum over all layers then loses nothing.
    """
    rows, size = stream.shape
    out = torch.empty(stream.shape, dtype=weight.dtype, device=stream.device)
    block = triton.next_power_of_2(size)
    warps = 4 if block <= 2048 else 8
    _add_rms_norm[(rows,)](
        stream if x is None else x, stream, weight, out, eps,
        SIZE=size, BLOCK=block, ADD=x is not None, num_warps=warps, **pdl.options(),
    )  # fmt: skip
    return out
