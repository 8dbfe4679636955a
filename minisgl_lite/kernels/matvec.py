"""Matrix times vector: a linear layer of a single row, and the gated one of an MLP. CUDA only. Chapter 12.

In a product with one row each weight is read and used once, so the time is that of reading. Kernels for tensor cores
compute eight rows or more all the same, and cut the weights up for that and not for the memory.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from . import pdl
from .activation import silu_mul
from .pdl import inputs_ready


@triton.jit
def _piece(at, column, inside, SIZE: tl.constexpr):  # type: ignore[no-untyped-def]
    there = inside[:, None] & (column < SIZE)[None, :]
    # every weight is read once: it need not push anything out of the cache
    return tl.load(at + column[None, :], mask=there, other=0.0, eviction_policy="evict_first")


@triton.jit
def _outputs(  # type: ignore[no-untyped-def]
    x, weight, bias, row, inside,
    SIZE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, BIAS: tl.constexpr, PDL: tl.constexpr,
):  # fmt: skip
    """ROWS outputs of a linear layer, float32: x [SIZE] times these rows of `weight`, and their biases."""
    at, column = weight + row[:, None] * SIZE, tl.arange(0, BLOCK)
    part = _piece(at, column, inside, SIZE)
    inputs_ready(PDL)
    total = tl.zeros([ROWS, BLOCK], tl.float32)
    for _ in range(0, SIZE, BLOCK):
        total += part.to(tl.float32) * tl.load(x + column, mask=column < SIZE, other=0.0).to(tl.float32)[None, :]
        # on its way while this one is multiplied; behind the last piece nothing is read
        column += BLOCK
        part = _piece(at, column, inside, SIZE)
    # the sum over lanes comes last, once
    value = tl.sum(total, 1)
    if BIAS:
        value += tl.load(bias + row, mask=inside, other=0.0).to(tl.float32)
    return value


@triton.jit
def _linear(  # type: ignore[no-untyped-def]
    x, weight, bias, out, count,
    SIZE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, BIAS: tl.constexpr, PDL: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = row < count
    tl.store(out + row, _outputs(x, weight, bias, row, inside, SIZE, ROWS, BLOCK, BIAS, PDL), mask=inside)


@triton.jit
def _gated(  # type: ignore[no-untyped-def]
    x, weight, bias, out, count,
    SIZE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, BIAS: tl.constexpr, PDL: tl.constexpr,
):  # fmt: skip
    # gate, up, gate, up: rows of the matrix in pairs
    lane, half = tl.arange(0, ROWS), tl.arange(0, ROWS // 2)
    first = tl.program_id(0).to(tl.int64) * (ROWS // 2)
    row = first + lane // 2
    value = _outputs(x, weight, bias, row + lane % 2 * count, row < count, SIZE, ROWS, BLOCK, BIAS, PDL)
    gate, up = tl.split(tl.reshape(value, (ROWS // 2, 2)))
    tl.store(out + first + half, gate * tl.sigmoid(gate) * up, mask=first + half < count)


def tiles(size: int) -> tuple[int, int]:
    """(rows of the matrix a program, numbers of a row at a time) for rows of `size`: what was fastest on an H200."""
    if size < 2048:
        return 4, 1024
    if size % 2048:
        return 1 if size < 8192 else 2, 1024
    return 2 if size < 8192 else 4, 2048


def _launch(kernel: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, each: int) -> torch.Tensor:
    """each: rows of the matrix an output."""
    size, count = x.shape[1], weight.shape[0] // each
    out = torch.empty(1, count, dtype=x.dtype, device=x.device)
    rows, block = tiles(size)
    rows = max(rows, each)
    kernel[(triton.cdiv(each * count, rows),)](
        x, weight, weight if bias is None else bias, out, count,
        SIZE=size, ROWS=rows, BLOCK=block, BIAS=bias is not None, num_warps=4, **pdl.options(),
    )  # fmt: skip
    return out


def is_vector(x: torch.Tensor, weight: torch.Tensor) -> bool:
    """Whether these kernels take a product: one row, not none (no request samples from a chunk), and all contiguous."""
    return x.shape[0] == 1 and x.is_contiguous() and weight.is_contiguous()


def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """F.linear of x [T, inputs] and a weight [outputs, inputs]; one row by a kernel of its own."""
    if not is_vector(x, weight):
        return F.linear(x, weight, bias)
    return _launch(_linear, x, weight, bias, 1)


def gated_linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """silu(gate) * up, where `weight` has the rows of gate, then those of up: [T, inputs] -> [T, outputs / 2]."""
    if not is_vector(x, weight):
        return silu_mul(F.linear(x, weight, bias))
    return _launch(_gated, x, weight, bias, 2)
