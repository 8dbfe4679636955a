"""A Capture that runs anywhere: torch operations are recorded with their tensors, and repeated. Chapter 12."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ..attention.fixed import FixedShapeAttention
from .engine import Engine
from .graph import DecodeGraph, GraphRunner

ALLOCATIONS = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")


class Call(NamedTuple):
    """One operation: what was called, with which tensors, and the tensors that it wrote to."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    options: dict[str, Any]
    out: list[torch.Tensor]
    in_place: bool


class Tape(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """What a CUDA graph is, in the small: operations with the addresses of their inputs and outputs, and no Python.

    While it is entered it records what runs. Called, it does it again: the same operations on the same tensors, in the
    same order; what came out in a tensor then comes out in that tensor again. Views and allocations are no work, and
    are not recorded. A value that goes to the host is refused: nobody would be there to read it at a replay.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.calls: list[Call] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run one operation and note it."""
        options = kwargs or {}
        name = func._schema.name.removeprefix("aten::")
        if name == "_local_scalar_dense":
            raise RuntimeError("a graph cannot hand a value to the host: its operations run without Python")
        result = func(*args, **options)
        out, given = tensors(result), {address(t) for t in tensors((args, options))}
        in_place = func._schema.is_mutable
        is_view = not in_place and all(address(t) in given for t in out)
        if not is_view and name not in ALLOCATIONS:
            self.calls.append(Call(name, func, args, options, out, in_place))
        return result

    def __call__(self) -> None:
        """Replay."""
        for call in self.calls:
            result = call.function(*call.args, **call.options)
            if not call.in_place:
                for there, new in zip(call.out, tensors(result), strict=True):
                    there.copy_(new)


def tensors(value: Any) -> list[torch.Tensor]:
    """All tensors in a nest of tuples, lists and dicts, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        return tensors(list(value.values()))
    return [t for item in value for t in tensors(item)] if isinstance(value, (list, tuple)) else []


def address(tensor: torch.Tensor) -> int:
    """Of the memory that a tensor is in; views share it."""
    return tensor.untyped_storage().data_ptr()


def record(work: Callable[[], None]) -> Tape:
    """A Capture: see engine.graph. Runs `work` once."""
    tape = Tape()
    with tape:
        work()
    return tape


@torch.inference_mode()
def tape_decode(
    engine: Engine, sizes: Sequence[int], capture: Callable[[Callable[[], None]], Callable[[], None]] = record
) -> GraphRunner:
    """A decode graph on tape for each size, around an engine on any device.

    To be called while nobody owns a page: recording writes into page 0, which is then cleared.
    """
    pool = engine.pool
    graphs = [DecodeGraph(engine, FixedShapeAttention(pool, size), size, capture) for size in sizes]
    for part in (pool.k, pool.v):
        part[:, : pool.page_size] = 0
    return GraphRunner(engine, graphs)
