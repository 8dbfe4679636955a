"""What a forked child has of its parent's ranks, and must leave alone. Chapter 13."""

from __future__ import annotations

import ctypes
import os
import weakref
from typing import Protocol


class Shared(Protocol):
    """Holds what belongs to the process that made it."""

    def leave_to_parent(self) -> list[object]:
        """Called in a forked child: close the child's copies of lines; what is returned is never taken apart there."""
        ...


_held: weakref.WeakSet[Shared] = weakref.WeakSet()


def hold(shared: Shared) -> None:
    """Have `shared` leave its things to this process whenever it is forked."""
    _held.add(shared)


def _in_child() -> None:
    for shared in list(_held):
        for thing in shared.leave_to_parent():
            # its destructor would wait for threads, which a fork does not have
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
