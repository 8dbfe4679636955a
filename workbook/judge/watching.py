"""What probes watch while the student's functions run: which calls of torch they make, and where results are made.

Imports torch, so it is for the graded process only.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

WAITS = ("tolist", "item", "numpy", "__array__", "__int__", "__index__", "__bool__", "__float__", "cpu", "nonzero")
"""Calls on a tensor that, on a GPU, would stop the host until the device is done."""
WAITING_OPERATIONS = (
    *("_local_scalar_dense", "masked_select", "nonzero", "nonzero_numpy", "bincount", "equal"),
    *("_unique", "_unique2", "unique_dim", "unique_consecutive", "unique_dim_consecutive"),
)
"""Operations whose result, or whose shape, depends on the values in a tensor."""
MAKERS = (
    "tensor",
    "as_tensor",
    "asarray",
    "from_numpy",
    "frombuffer",
    "new_tensor",
    "scalar_tensor",
    "LongTensor",
    "IntTensor",
)
"""Calls that make a tensor of what the host has: each means a copy to the device."""


def has_mask(indices: Any) -> bool:
    """Whether there is a mask among the indices: how many places it names, only its values tell."""
    return any(isinstance(t, torch.Tensor) and t.dtype in (torch.bool, torch.uint8) for t in tree_leaves(indices))


class Calls(TorchFunctionMode):
    """Notes the names of all calls of torch's Python interface. on: whether it notes anything now."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.waits: list[str] = []
        self.on = True

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note the call, then make it."""
        name, kwargs = getattr(func, "__name__", ""), kwargs or {}
        if self.on:
            self.names.append(name)
            if name in WAITS or (name == "repeat_interleave" and kwargs.get("output_size") is None):
                self.waits.append(name)
        return func(*args, **kwargs)


class Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes the name of every operation on tensors, and the kinds of device on which results with axes are made.

    waits: those among them that wait for the device. What raises is noted, too.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.names: list[str] = []
        self.waits: list[str] = []
        self.devices: set[str] = set()
        self.on = True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note the operation and its results."""
        if self.on:
            self.names.append(name := func.overloadpacket.__name__)
            if name in WAITING_OPERATIONS or (
                name == "repeat_interleave" and (kwargs or {}).get("output_size") is None
            ):
                self.waits.append(name)
            elif name.lstrip("_").startswith(("index", "unsafe_index")) and has_mask(args[1:2]):
                self.waits.append("x[mask]")
        out = func(*args, **(kwargs or {}))
        if self.on:
            self.devices |= {t.device.type for t in tree_leaves(out) if isinstance(t, torch.Tensor) and t.dim()}
        return out
