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

from .activation import silu_mul


@triton.jit
def _outputs(  # type: ignore[no-untyped-def]
    x, weight, bias, row, inside, SIZE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, BIAS: tl.constexpr
):  # fmt: skip
    """ROWS outputs of a linear layer, float32: x [SIZE] times these rows of `weight`, and their biases."""
    lane = tl.arange(0, BLOCK)
    total = tl.zeros([ROWS, BLOCK], tl.float32)
    for start in range(0, SIZE, BLOCK):
        column = start + lane
        there = column < SIZE
        at = weight + row[:, None] * SIZE + column[None, :]
        # every weight is read once: it need not push anything out of the cache
        part = tl.load(at, mask=inside[:, None] & there[None, :], other=0.0, eviction_policy="evict_first")
        total += part.to(tl.float32) * tl.load(x + column, mask=there, other=0.0).to(tl.float32)[None, :]
    # the sum over lanes comes last, once
    value = tl.sum(total, 1)
    if BIAS:
        value += tl.load(bias + row, mask=inside, other=0.0).to(tl.float32)
    return value


@triton.jit
def _linear(  # type: ignore[no-untyped-def]
    x, weight, bias, out, count, SIZE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, BIAS: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = row < count
    tl.store(out + row, _outputs(x, weight, bias, row, inside, SIZE, ROWS, BLOCK, BIAS), mask=inside)


@triton.jit
def _gated(  # type: ignore[no-untyped-def]
    x, weight, bias, out, count, SIZE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, BIAS: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = row < count
    gate = _outputs(x, weight, bias, row, inside, SIZE, ROWS, BLOCK, BIAS)
    up = _outputs(x, weight, bias, count + row, inside, SIZE, ROWS, BLOCK, BIAS)
    tl.store(out + row, gate * tl.sigmoid(gate) * up, mask=inside)


def tiles(size: int) -> tuple[int, int]:
    """(rows of the matrix a program, numbers of a row at a time) for rows of `size`: what was fastest on an H200."""
    return 1 if 2048 <= size < 8192 else 2, 1024 if size < 2048 or size % 2048 else 2048


def _launch(kernel: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, count: int) -> torch.Tensor:
    out = torch.empty(1, count, dtype=x.dtype, device=x.device)
    size = x.shape[1]
    rows, block = tiles(size)
    kernel[(triton.cdiv(count, rows),)](
        x, weight, weight if bias is None else bias, out, count,
        SIZE=size, ROWS=rows, BLOCK=block, BIAS=bias is not None, num_warps=4,
    )  # fmt: skip
    return out


def is_vector(x: torch.Tensor, weight: torch.Tensor) -> bool:
    """Whether these kernels take a product: one row, not none (no request samples from a chunk), and all contiguous."""
    return x.shape[0] == 1 and x.is_contiguous() and weight.is_contiguous()


def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """F.linear of x [T, inputs] and a weight [outputs, inputs]; one row by a kernel of its own."""
    if not is_vector(x, weight):
        return F.linear(x, weight, bias)
    return _launch(_linear, x, weight, bias, weight.shape[0])


def gated_linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """silu(gate) * up, where `weight` has the rows of gate, then those of up: [T, inputs] -> [T, outputs / 2]."""
    if not is_vector(x, weight):
        return silu_mul(F.linear(x, weight, bias))
    return _launch(_gated, x, weight, bias, weight.shape[0] // 2)
