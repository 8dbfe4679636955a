"""In the graded process: the audit events that reach out of it, and who caused one."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from types import FrameType

WRITES = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
CHANGES = {  # audit event -> which of its arguments are paths that it changes
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
LISTS = ("os.listdir", "os.scandir")
KILLS = ("os.kill", "os.killpg")
_STARTS = (
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty"),
    *("os.startfile", "pty.spawn"),
)
_GO_BETWEENS = ("<frozen os>", "/subprocess.py", "/os.py", "/pty.py", "/ctypes/", "/asyncio/")


def runs(event: str) -> str:
    """What an event does beyond Python, which libraries may do and exercises need not; empty for all others."""
    if event in _STARTS:
        return "start another program"
    return "reach into memory" if event.startswith("ctypes.") else ""


def who_asks(frame: FrameType | None) -> str:
    """The file of the code that wants something; functions of the standard library that only do it do not count."""
    while frame is not None:
        name = frame.f_code.co_filename
        if not any(part in name.replace(os.sep, "/") for part in _GO_BETWEENS):
            return name
        frame = frame.f_back
    return ""


def is_own_process(pid: int) -> bool:
    """Whether a process is this one or descends from it; one that is not there does. Linux knows all of it."""
    if pid in (0, os.getpid()):
        return True
    if not os.path.exists("/proc/self/stat"):
        return pid != os.getppid()
    with contextlib.suppress(OSError, ValueError, IndexError):
        for _ in range(100):
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
            pid = int(stat.split()[1])
            if pid == os.getpid():
                return True
            if pid <= 1:
                return False
    return not os.path.exists(f"/proc/{pid}")
