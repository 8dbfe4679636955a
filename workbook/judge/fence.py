"""In the graded process: refuse what reaches out of it, with a message of its own.

A fence, no wall: code that goes around Python's own functions gets past it. The judge relies on reading everything
before it runs anything, and on noticing what was changed (guard.py).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from typing import Any

from .finder import package_file
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


def digest_of(folder: str | PurePath) -> str:
    """What stands for a folder that graded code shall not learn the name of."""
    return hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()


class Fence:
    """What graded code may not touch. own: the process's own folder, where it is free.

    tell: hears of everything that is refused, as it happens, whatever the code makes of the exception.
    """

    def __init__(self, job: Job, own: Path, tell: Callable[[str], None]) -> None:
        self.refused: list[OutsideError] = []
        self._tell = tell
        self._guarded = [os.path.realpath(name) for name in (job.root, sys.prefix, sys.base_prefix)]
        self._private, self._own = frozenset(job.private), os.path.realpath(own)
        self.turn_to(job)
        self._libraries = (sys.prefix + os.sep, sys.base_prefix + os.sep)
        self._looking = threading.local()

    def turn_to(self, job: Job | None) -> None:
        """Guard the answers of this job from now on; of none while the next one is prepared."""
        self.refused.clear()
        parts = job.parts if job else ()
        self._answers = frozenset(os.path.realpath(package_file(job, part)) for part in parts if job)

    def install(self) -> None:
        """Raise it, for the rest of this process."""
        signal_it = getattr(signal, "pidfd_send_signal", None)
        if signal_it is not None:  # no audit event tells of it

            def pidfd_send_signal(*args: Any) -> None:
                self._refuse("graded code may not send signals through descriptors")

            for module in (signal, sys.modules["_signal"]):
                module.pidfd_send_signal = pidfd_send_signal  # type: ignore[attr-defined, unused-ignore]
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event != "open" and event not in _CHANGES and event not in _LISTS and event not in _KILLS:
            return
        if getattr(self._looking, "now", False):
            return  # the fence itself looks something up
        self._looking.now = True
        try:
            self._look(event, args)
        finally:
            self._looking.now = False

    def _look(self, event: str, args: tuple[Any, ...]) -> None:
        if event in _KILLS:
            if not self._is_own_process(args[0] if event == "os.killpg" else abs(args[0])) or args[0] == -1:
                self._refuse("graded code may not send signals to the judge, or to any process but its own")
        elif event in _CHANGES:
            for path in (args[i] for i in _CHANGES[event]):
                if self._lies_outside(path, writing=True) or self._is_private(path):
                    self._refuse(f"graded code may not change {os.fsdecode(path)} ({event})")
        elif event in _LISTS:
            if self._is_private(args[0]):
                self._refuse(f"graded code may not look into {os.fsdecode(args[0])}")
        else:
            self._look_at_open(args[0], args[1], bool(args[2] & _WRITES))

    def _look_at_open(self, path: Any, mode: str | None, writing: bool) -> None:
        """mode: None for `os.open`, the only one that opens folders."""
        if not writing and isinstance(path, str) and path.startswith(self._libraries) and ".." not in path:
            return  # thousands of imports; and where nothing may be written, no link leads elsewhere
        if self._lies_outside(path, writing) or self._is_private(path):
            self._refuse(f"graded code may not {'write to' if writing else 'read'} {os.fsdecode(path)}")
        # From a folder's descriptor any file below it can be opened by a name that tells nothing.
        if mode is None and self._is_path(path) and os.path.isdir(path) and not self._real(path).startswith(self._own):
            self._refuse(f"graded code may not open the folder {os.fsdecode(path)}")

    def _lies_outside(self, path: Any, writing: bool) -> bool:
        if not self._is_path(path):
            return False
        real = self._real(path)
        if _below(real, self._own):
            return False
        if writing and any(_below(real, folder) for folder in self._guarded):
            return True
        return self._is_answer(real) or self._is_others(real) or self._is_others(os.path.abspath(os.fsdecode(path)))

    def _is_private(self, path: Any) -> bool:
        if not self._private or not self._is_path(path):
            return False
        real = self._real(path)
        folders = [PurePath(real), *PurePath(real).parents]
        return not _below(real, self._own) and any(digest_of(folder) in self._private for folder in folders)

    def _is_answer(self, real: str) -> bool:
        """Whether it is the package's own form of a module that the student wrote, or that form compiled."""
        path = PurePath(real)
        if path.parent.name == "__pycache__":
            real = str(path.parent.parent / (path.name.partition(".")[0] + ".py"))
        return real in self._answers

    def _is_others(self, real: str) -> bool:
        """Whether it is something of another process, in Linux's /proc."""
        parts = PurePath(real).parts
        return (
            parts[1:2] == ("proc",)
            and parts[2:3] != ()
            and parts[2].isdigit()
            and len(parts) > 3
            and (not self._is_own_process(int(parts[2])))
        )

    def _is_own_process(self, pid: int) -> bool:
        """Whether a process is this one or descends from it; one that is not there does. Linux knows all of it."""
        if pid in (0, os.getpid()):
            return True
        if not Path("/proc/self/stat").exists():
            return pid != os.getppid()
        with contextlib.suppress(OSError, ValueError, IndexError):
            for _ in range(100):
                stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
                pid = int(stat.split()[1])
                if pid == os.getpid():
                    return True
                if pid <= 1:
                    return False
        return not Path(f"/proc/{pid}").exists()

    def _refuse(self, message: str) -> None:
        error = OutsideError(message)
        self.refused.append(error)
        self._tell(message)
        raise error

    @staticmethod
    def _is_path(path: Any) -> bool:
        return isinstance(path, (str, bytes, os.PathLike))

    @staticmethod
    def _real(path: Any) -> str:
        return os.path.realpath(os.fsdecode(path))


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


__all__: Sequence[str] = ["Fence", "OutsideError", "digest_of"]
