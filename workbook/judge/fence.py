"""In the graded process: refuse what reaches out of it, with a message of its own.

A fence, no wall: code that goes around Python's own functions gets past it. The judge relies on reading everything
before it runs anything, and on noticing what was changed (guard.py). What the fence knows lies in the cells of its
functions: there is no attribute that turns it off.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .finder import package_file
from .job import Job
from .outside import CHANGES, KILLS, LISTS, WRITES, is_own_process, runs, who_asks
from .paths import Places, below, exact, hidden_files, places_of, real_path

Tell = Callable[[str], None]
Refuse = Callable[[str], None]


class OutsideError(PermissionError):
    """Graded code reached for something that is none of its business; the message names it."""


@dataclass(frozen=True)
class Fence:
    """refused: what was refused first, or None. turn_to: guard the answers of another job from now on; for the
    workbook's own texts only.
    """

    refused: Callable[[], OutsideError | None]
    turn_to: Callable[[Job, Mapping[str, int]], None]


def raise_fence(job: Job, chapters: Mapping[str, int], own: Path, tell: Tell) -> Fence:
    """Raise it, for the rest of this process. own: the process's own folder, where it is free. chapters: of modules.

    tell: hears of everything that is refused, as it happens, whatever the code makes of the exception.
    """
    refusals: list[OutsideError] = []
    answers = _answers(job, chapters)
    places = places_of(job, own)

    def refuse(message: str) -> None:
        error = OutsideError(message)
        refusals.append(error)
        tell(message)
        raise error

    def turn_to(to: Job, of: Mapping[str, int]) -> None:
        nonlocal answers
        if job.lasting:
            answers = _answers(to, of)

    def hear(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            _look_at_open(places, answers, args, refuse)
        elif event in CHANGES:
            for path in (exact(args[i], refuse) for i in CHANGES[event]):
                if places.may_not_write(path) or places.may_not_read(path, answers):
                    refuse(f"graded code may not change {path} ({event})")
        elif event in LISTS:
            if places.is_private(path := exact(args[0], refuse)):
                refuse(f"graded code may not look into {path}")
        elif event in KILLS:
            if not is_own_process(args[0] if event == "os.killpg" else abs(args[0])) or args[0] == -1:
                refuse("graded code may not send signals to the judge, or to any process but its own")
        elif (what := runs(event)) and not places.may_run(who_asks(sys._getframe(1))):
            refuse(f"graded code may not {what} ({event})")

    _close_signals(refuse)
    sys.addaudithook(hear)
    return Fence(lambda: refusals[0] if refusals else None, turn_to)


def _look_at_open(places: Places, answers: frozenset[str], args: Sequence[Any], refuse: Refuse) -> None:
    path, mode, writing = exact(args[0], refuse), args[1], bool(args[2] & WRITES)
    if not writing and places.is_library(path):
        return  # thousands of imports; and where nothing may be written, no link leads elsewhere
    if (writing and places.may_not_write(path)) or places.may_not_read(path, answers):
        refuse(f"graded code may not {'write to' if writing else 'read'} {path}")
    # From a folder's descriptor any file below it can be opened by a name that tells nothing. Only os.open, which tells
    # no mode, opens folders.
    if mode is None and path is not None and os.path.isdir(path) and not below(real_path(path), places.own):
        refuse(f"graded code may not open the folder {path}")


def _answers(job: Job, chapters: Mapping[str, int]) -> frozenset[str]:
    """The package's own form of the modules that the student wrote, and of those of later chapters."""
    later = [Path(job.root, *name.split(".")) for name, chapter in chapters.items() if job.chapter < chapter]
    files = [*(package_file(job, part) for part in job.parts), *hidden_files(later if job.chapter else [])]
    return frozenset(os.path.realpath(file) for file in files)


def _close_signals(refuse: Refuse) -> None:
    if hasattr(signal, "pidfd_send_signal"):  # no audit event tells of it

        def pidfd_send_signal(*args: Any) -> None:
            refuse("graded code may not send signals through descriptors")

        for module in (signal, sys.modules["_signal"]):
            module.pidfd_send_signal = pidfd_send_signal  # type: ignore[attr-defined, unused-ignore]
