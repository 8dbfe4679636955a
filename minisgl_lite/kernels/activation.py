"""SiLU of the gate times up in one kernel. CUDA only. Chapter 12."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from . import pdl
from .pdl import inputs_ready


@triton.jit
def _silu_mul(gate_up, out, SIZE: tl.constexpr, BLOCK: tl.constexpr, PDL: tl.constexpr):  # type: ignore[no-untyped-def]
    row = tl.program_id(0).to(tl.int64)
    lane = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = lane < SIZE
    inputs_ready(PDL)
    gate = tl.load(gate_up + row * 2 * SIZE + lane, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(gate_up + row * 2 * SIZE + SIZE + lane, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + row * SIZE + lane, gate * tl.sigmoid(gate) * up, mask=inside)


def silu_mul(gate_up: torch.Tensor) -> torch.Tensor:
    """[T, 2 * size], gate then up -> silu(gate) * up [T, size]"""
    rows, size = gate_up.shape[0], gate_up.shape[1] // 2
    out = torch.empty(rows, size, dtype=gate_up.dtype, device=gate_up.device)
    block = 1024
    grid = (rows, triton.cdiv(size, block))
    _silu_mul[grid](gate_up, out, SIZE=size, BLOCK=block, num_warps=4, **pdl.options())
    return out
