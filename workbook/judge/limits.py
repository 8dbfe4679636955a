"""Watching and ending a graded process together with everything that it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from .job import JOB_VARIABLE


def start_options() -> dict[str, object]:
    """Arguments of Popen that put the process into a group of its own."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def family(pid: int, job_file: Path) -> list[int]:
    """The process and all that descend from it: by session, and by the job file in their environment. Linux only."""
    mark = f"{JOB_VARIABLE}={job_file}".encode()
    found: list[int] = []
    for entry in Path("/proc").iterdir() if Path("/proc/self/stat").exists() else ():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError, IndexError, ValueError):
            fields = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            in_session = int(fields[3]) == pid
            if fields[0] not in "ZX" and (in_session or mark in (entry / "environ").read_bytes().split(b"\0")):
                found.append(int(entry.name))
    return found


def memory_used(pid: int, job_file: Path) -> int:
    """Resident bytes of the process and its descendants; of what can be seen on this system, else 0."""
    if Path("/proc/self/statm").exists():
        pages = 0
        for member in family(pid, job_file):
            with contextlib.suppress(OSError, IndexError, ValueError):
                pages += int(Path(f"/proc/{member}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    try:
        import psutil  # type: ignore[import-untyped, unused-ignore]

        top = psutil.Process(pid)
        return sum(process.memory_info().rss for process in [top, *top.children(recursive=True)])
    except Exception:  # psutil is not there, or the process has gone: nothing is known
        return 0


def end_family(process: subprocess.Popen[bytes], job_file: Path) -> None:
    """Kill the process and everything that it left behind, and wait for it."""
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False)
    else:
        # A member may start another one while it is being killed, so look until there is none.
        for _ in range(50):
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            left = family(process.pid, job_file)
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            if not left:
                break
            time.sleep(0.01)
    with contextlib.suppress(OSError):
        process.kill()
    process.wait()
