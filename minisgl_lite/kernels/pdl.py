"""Programmatic dependent launch (PDL): a kernel starts while the one before it ends. CUDA only. Chapter 12.

A kernel launched like that may start as soon as all programs of the kernel before it have signalled or ended. What it
does first must need nothing that a kernel computes: pointers, weights. Then it waits in `inputs_ready`, until all
kernels before it are done and what they wrote can be read. A kernel signals only after its own wait, so at any time two
kernels of a stream have begun at most, and the second of them has written nothing yet.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import triton
import triton.language as tl

# None in a Triton that has none: it looks up each name in a kernel's code, also where the code does not get to
_cuda = getattr(tl.extra, "cuda", None)
gdc_wait: Any = getattr(_cuda, "gdc_wait", None)
gdc_launch_dependents: Any = getattr(_cuda, "gdc_launch_dependents", None)


@triton.jit
def inputs_ready(PDL: tl.constexpr):  # type: ignore[no-untyped-def]
    """Wait for the kernels before this one, then let the next one start. Before it, only weights may be read.

    Not even a weight that the very kernel before this one has written.
    """
    if PDL:
        gdc_wait()
        gdc_launch_dependents()


@cache
def supported() -> bool:
    """Whether GPU (Hopper or later) and Triton (3.5 or later: 3.4 has the calls, but cannot compile them) can do it."""
    return (
        torch.version.cuda is not None
        and torch.cuda.is_available()
        and torch.cuda.get_device_capability() >= (9, 0)
        and tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 5)
    )


def options() -> dict[str, bool]:
    """Arguments of a kernel's launch that make it a dependent one, where that is supported."""
    return {"PDL": True, "launch_pdl": True} if supported() else {"PDL": False}
