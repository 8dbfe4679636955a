"""Programmatic dependent launch (PDL): a kernel starts while the one before it ends. CUDA only. Chapter 12.

A kernel launched like that may start as soon as all programs of the kernel before it have signalled or ended. What it
does first must need nothing that a kernel computes: pointers, weights. Then it waits in `inputs_ready`, until all
kernels before it are done and what they wrote can be read. A kernel signals only after its own wait, so at any time two
kernels of a stream have begun at most, and the second of them has written nothing yet.
"""

from __future__ import annotations

from functools import cache

import torch
import triton
import triton.language as tl


@triton.jit
def inputs_ready(PDL: tl.constexpr):  # type: ignore[no-untyped-def]
    """Wait for the kernels before this one, then let the next one start. Before it, only weights may be read."""
    if PDL:
        tl.extra.cuda.gdc_wait()
        tl.extra.cuda.gdc_launch_dependents()


@cache
def supported() -> bool:
    """Whether GPU (Hopper or later) and Triton (3.3 or later) can do it."""
    return (
        torch.version.cuda is not None
        and torch.cuda.is_available()
        and torch.cuda.get_device_capability() >= (9, 0)
        and hasattr(getattr(tl.extra, "cuda", None), "gdc_wait")
    )


def options() -> dict[str, bool]:
    """Arguments of a kernel's launch that make it a dependent one, where that is supported."""
    return {"PDL": True, "launch_pdl": True} if supported() else {"PDL": False}
