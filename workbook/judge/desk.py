"""In the graded process: the job it works on, and how it turns to another one as if it had just been started."""

from __future__ import annotations

import gc
import os
import random
import sys
import threading
from collections.abc import Callable
from multiprocessing import spawn
from pathlib import Path
from types import ModuleType
from typing import Any

from ..tree import PACKAGE, package_modules
from .fence import raise_fence
from .finder import PROBES, install
from .job import Job

FOR_RANKS = ("workbook", "workbook.judge", "workbook.judge.finder", "workbook.judge.job", "workbook.tree")
"""Modules of the classroom whose objects are handed to the processes of tensor-parallel ranks."""
_OURS = {PACKAGE, __name__.partition(".")[0], PROBES}


class Desk:
    """The job, the finders that show its texts, and the fence around its code.

    A student's process has one job. The workbook's own texts (the reference, the variants) take turns in one process:
    libraries stay imported, everything of the workbook and the package is imported anew. file: where a process that
    multiprocessing spawns from here finds the job. tell: see Fence.
    """

    def __init__(self, job: Job, file: Path, tell: Callable[[str], None]) -> None:
        self.job, self._file = job, file
        self._finders = list(sys.meta_path)
        self._place = os.getcwd()
        self._chapters = package_modules()  # looks through the package, which the fence would refuse
        self.finders = install(job, self._chapters, file.parent)
        if any("torch" in text for text in (job.probes, *(part.text for part in job.parts))):
            close_files()
        self.fence = raise_fence(job, self._chapters, file.parent, tell)
        self._hand_on()
        hide_judge()
        self._modules = set(sys.modules)

    def turn_to(self, job: Job) -> str:
        """Take another job of the same root and limits. Returns why that cannot be; empty when it is done."""
        if why := self._left_behind():
            return why
        self._forget()
        self.job, self.finders = job, install(job, self._chapters, self._file.parent)
        self.fence.turn_to(job, self._chapters)
        return ""

    def _hand_on(self) -> None:
        """From now on, a process that multiprocessing spawns from here finds the job in the file."""
        prepare = spawn.get_preparation_data

        def get_preparation_data(name: str) -> dict[str, Any]:
            self.job.save(self._file)
            return prepare(name)

        spawn.get_preparation_data = get_preparation_data

    def _left_behind(self) -> str:
        """What the last job changed for good, as far as that is known; empty when it is nothing."""
        if threading.active_count() > 1:
            return "threads were left behind"
        if os.getcwd() != self._place:
            return "the working directory was changed"
        if self.fence.refused():
            return "the fence was touched"
        torch = sys.modules.get("torch")
        if torch is not None and torch_state(torch) != torch_state_at_first(torch):
            return "torch's settings were changed"
        return ""

    def _forget(self) -> None:
        """Unload what the last job imported, its finders, its random numbers and its memory."""
        ours = _OURS | {part.module.partition(".")[0] for part in self.job.parts}
        for name in [n for n in sys.modules if n.partition(".")[0] in ours and n not in self._modules]:
            module = sys.modules.pop(name)
            parent, _, last = name.rpartition(".")
            if parent in self._modules and getattr(sys.modules[parent], last, None) is module:
                delattr(sys.modules[parent], last)
        kept = [id(finder) for finder in self._finders]
        added = [id(finder) for finder in self.finders if id(finder) not in kept]
        sys.meta_path[:] = [finder for finder in sys.meta_path if id(finder) not in added]
        random.seed()
        if torch := sys.modules.get("torch"):
            torch.seed()  # another one each time, as in a new process
        gc.collect()
        gc.freeze()  # libraries, from the first time on: to walk through them each time would cost more than the job


def hide_judge() -> None:
    """Take the modules that run here out of reach: graded code that names one imports another copy of it.

    The main module keeps what multiprocessing asks of it.
    """
    for name in [name for name in sys.modules if name.partition(".")[0] == __name__.partition(".")[0]]:
        if name in FOR_RANKS:
            continue
        parent, _, last = name.rpartition(".")
        if parent in sys.modules:
            vars(sys.modules[parent]).pop(last, None)
        del sys.modules[name]
    main, hollow = sys.modules["__main__"], ModuleType("__main__")
    hollow.__spec__ = main.__spec__
    hollow.__file__ = main.__file__
    sys.modules["__main__"] = hollow


def close_files() -> None:
    """Let the fence hear of it when torch maps a file into memory, which raises no event."""
    import torch

    def heard(from_file: Callable[..., Any]) -> Callable[..., Any]:
        def opened(filename: Any, *args: Any, **options: Any) -> Any:
            open(filename, "rb").close()
            return from_file(filename, *args, **options)

        return opened

    owners: tuple[Any, ...] = (torch, torch.UntypedStorage)
    for owner in owners:
        owner.from_file = staticmethod(heard(owner.from_file))


def torch_state(torch: Any) -> tuple[object, ...]:
    """Settings of torch that hold for a whole process."""
    return (
        torch.get_default_dtype(),
        str(torch.get_default_device()),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.are_deterministic_algorithms_enabled(),
    )


def torch_state_at_first(torch: Any) -> tuple[object, ...]:
    """What torch_state is in a new process."""
    return (torch.float32, "cpu", True, False, False)
