"""Watching and ending a graded process together with everything that it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

# Who is whose child is a matter of the whole process, and so is this: pids that the judge itself started.
_STARTED: set[int] = set()
_STARTING = threading.Lock()
_ADOPTING = threading.Event()


def start(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """Popen, in a process group of its own; the process will not be taken for one that was left behind."""
    if sys.platform == "win32":
        options["creationflags"] = subprocess.CREATE_NEW_PROCESS_GROUP
    else:
        options["start_new_session"] = True
    with _STARTING:
        process: subprocess.Popen[bytes] = subprocess.Popen(command, **options)
        _STARTED.add(process.pid)
    return process


def adopt_orphans() -> None:
    """Linux: descendants whose parent has gone become children of this process, and `end_family` ends them.

    From then on it ends every child of this process that was not begun with `start`: for processes that only judge.
    """
    if _prctl(36, 1):  # PR_SET_CHILD_SUBREAPER
        _ADOPTING.set()


def close_memory() -> None:
    """Linux: other processes of this user may not look into this one (memory, open files, environment) any more."""
    _prctl(4, 0)  # PR_SET_DUMPABLE


def give_up_root() -> None:
    """Linux, as root: what is started from now on may not look into other processes, root or not."""
    _prctl(24, 19)  # PR_CAPBSET_DROP, CAP_SYS_PTRACE


def is_root() -> bool:
    """Whether this user's rights are those of the system's administrator."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def die_with_parent() -> None:
    """Linux: when the thread that started this process ends, the system ends this process as well."""
    _prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL


def _prctl(option: int, value: int) -> bool:
    """Set one of Linux's options of a process. False where there is no such thing."""
    if sys.platform != "linux":
        return False
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        return int(ctypes.CDLL(None).prctl(option, value, 0, 0, 0)) == 0
    return False


def family(pid: int, mark: str) -> list[int]:
    """The process and all that it started: by descent, by session, and by the mark in their environment. Linux only.

    mark: `NAME=value`, set in the environment of the process; empty for none.
    """
    table = _processes()
    found = {pid} & table.keys()
    while more := {p for p, (parent, _) in table.items() if parent in found} - found:
        found |= more
    for other, (_, session) in table.items():
        with contextlib.suppress(OSError):
            if session == pid or (mark and mark.encode() in Path(f"/proc/{other}/environ").read_bytes().split(b"\0")):
                found.add(other)
    return sorted(found - {os.getpid()})


def orphans() -> list[int]:
    """Children of this process that it did not start itself: left behind by a graded one (see adopt_orphans)."""
    if not _ADOPTING.is_set():
        return []
    return [pid for pid, (parent, _) in _processes().items() if parent == os.getpid() and pid not in _STARTED]


def memory_used(pid: int, mark: str) -> int:
    """Resident bytes of the process and its descendants; of what can be seen on this system, else 0."""
    if Path("/proc/self/statm").exists():
        pages = 0
        for member in family(pid, mark):
            with contextlib.suppress(OSError, IndexError, ValueError):
                pages += int(Path(f"/proc/{member}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    try:
        import psutil  # type: ignore[import-untyped, unused-ignore]

        top = psutil.Process(pid)
        return sum(process.memory_info().rss for process in [top, *top.children(recursive=True)])
    except Exception:  # psutil is not there, or the process has gone: nothing is known
        return 0


def end_family(process: subprocess.Popen[bytes], mark: str = "") -> None:
    """Kill the process and everything that it left behind, and wait for it."""
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False)
    else:
        # A member may start another one while it is being killed, so look until there is none.
        for _ in range(50):
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGSTOP)  # what stands still starts nothing while the list is made
            with _STARTING:
                left = [*family(process.pid, mark), *orphans()]
                for pid in left:
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            if not left:
                break
            process.poll()
            time.sleep(0.01)
    with contextlib.suppress(OSError):
        process.kill()
    process.wait()
    _STARTED.discard(process.pid)


def _processes() -> dict[int, tuple[int, int]]:
    """pid -> (parent, session) of every living process. Linux only; empty elsewhere."""
    found: dict[int, tuple[int, int]] = {}
    for entry in Path("/proc").iterdir() if Path("/proc/self/stat").exists() else ():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                fields = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
                # A process whose first thread has ended looks like a zombie while its other threads go on.
                if fields[0] not in "ZX" or len(list((entry / "task").iterdir())) > 1:
                    found[int(entry.name)] = (int(fields[1]), int(fields[3]))
    return found
