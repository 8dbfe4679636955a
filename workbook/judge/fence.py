"""In the graded process: refuse what reaches out of it, with a message of its own.

A fence, no wall: code that goes around Python's own functions gets past it. The judge relies on reading everything
before it runs anything, and on noticing what was changed (guard.py).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .job import Job

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
_CHANGES = {  # audit event -> which of its arguments are paths that it changes
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.rmdir": (0,),
    "os.mkdir": (0,),
    "os.truncate": (0,),
    "os.chmod": (0,),
    "os.chown": (0,),
    "os.link": (0, 1),
    "os.symlink": (1,),
    "os.utime": (0,),
    "shutil.rmtree": (0,),  # what it removes it names by open folders
}
_LISTS = ("os.listdir", "os.scandir")
_KILLS = ("os.kill", "os.killpg")


class OutsideError(PermissionError):
    """Graded code reached for something that is none of its business; the message names it."""


def fence(job: Job, job_file: Path) -> list[OutsideError]:
    """Install it, for the rest of this process. What is refused is raised where it happens, and added to the list."""
    refused: list[OutsideError] = []
    guarded = _folders([job.root, sys.prefix, sys.base_prefix])
    private, own = _folders(job.private), _folders([str(job_file.parent)])
    judges, realpath = frozenset(job.judges), os.path.realpath

    def lies_in(path: Any, folders: tuple[str, ...]) -> bool:
        if not folders or not isinstance(path, (str, bytes, os.PathLike)):
            return False
        real = realpath(os.fsdecode(path)) + os.sep
        return real.startswith(folders) and not real.startswith(own)

    def refuse(message: str) -> None:
        error = OutsideError(message)
        refused.append(error)
        raise error

    def look(event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and lies_in(args[0], guarded if args[2] & _WRITES else private):
            what = "write to" if args[2] & _WRITES else "read"
            refuse(f"graded code may not {what} {os.fsdecode(args[0])}")
        elif event in _CHANGES:
            for path in (args[i] for i in _CHANGES[event] if lies_in(args[i], guarded + private)):
                refuse(f"graded code may not change {os.fsdecode(path)} ({event})")
        elif event in _LISTS and lies_in(args[0], private):
            refuse(f"graded code may not look into {os.fsdecode(args[0])}")
        elif event in _KILLS and (args[0] == -1 or abs(args[0]) in judges):
            refuse("graded code may not send signals to the judge")

    hook: Callable[[str, tuple[Any, ...]], None] = look
    sys.addaudithook(hook)
    return refused


def _folders(names: list[str]) -> tuple[str, ...]:
    return tuple(os.path.realpath(name).rstrip(os.sep) + os.sep for name in names if name)
