"""The pages of a decode batch as one flat list, without the host knowing how long it is. CUDA only. Chapter 12."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def _flatten(  # type: ignore[no-untyped-def]
    page_table, width, rows, ends, begins, out, PAGE: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    entry = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < (tl.load(ends + entry) + PAGE - 1) // PAGE
    row = tl.load(rows + entry)
    page = tl.load(page_table + row * width + column, mask=inside, other=0)
    tl.store(out + tl.load(begins + entry) + column, page.to(tl.int32), mask=inside)


def flatten_pages(
    page_table: torch.Tensor,
    rows: torch.Tensor,
    ends: torch.Tensor,
    page_size: int,
    begins: torch.Tensor,
    out: torch.Tensor,
) -> None:
    """Write the pages of the first ends[i] positions of row rows[i] to out[begins[i]:], for every entry."""
    width, block = page_table.shape[1], 1024
    grid = (rows.shape[0], triton.cdiv(width, block))
    _flatten[grid](page_table, width, rows, ends, begins, out, PAGE=page_size, BLOCK=block, num_warps=4)
