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
from typing import Any

from ..tree import PACKAGE
from .fence import Fence
from .finder import PROBES, install
from .job import Job

_OURS = {PACKAGE, __name__.partition(".")[0], PROBES}


class Desk:
    """The job, the finders that show its texts, and the fence around its code.

    A student's process has one job. The workbook's own texts (the reference, the variants) take turns in one process:
    libraries stay imported, everything of the workbook and the package is imported anew. file: where a process that
    multiprocessing spawns from here finds the job. tell: see Fence.
    """

    def __init__(self, job: Job, file: Path, tell: Callable[[str], None]) -> None:
        self.job, self._file = job, file
        self._modules, self._finders = set(sys.modules), list(sys.meta_path)
        self._place = os.getcwd()
        self.fence = Fence(job, file.parent, tell)
        self.finders = install(job)  # looks through the package first, which the fence would refuse
        self.fence.install()
        self._hand_on()

    def turn_to(self, job: Job) -> str:
        """Take another job of the same root and limits. Returns why that cannot be; empty when it is done."""
        if why := self._left_behind():
            return why
        self.fence.turn_to(None)
        self._forget()
        self.job, self.finders = job, install(job)
        self.fence.turn_to(job)
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
        if self.fence.refused:
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
