"""The graded process: `python -m workbook.judge.child`, started by the judge only.

Requests and answers are lines of JSON on the pipes it was started with. Before any student code runs, standard input is
emptied and standard output goes where standard error goes, so that nothing a student prints is taken for an answer.
The first line is the job; where the workbook's own texts are graded, another may follow it (see lasting.py). Processes
that multiprocessing spawns from here import this module as their main one, find the job in a file, and so get the same
finder.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from ..tree import package_modules
from .calls import told_call
from .desk import Desk
from .fence import OutsideError, raise_fence
from .finder import PROBES, install, replaced
from .job import JOB_VARIABLE, Job, job_of_text
from .limits import die_with_parent
from .values import NotAValue, decode, encode, plain
from .xray import recorded


def private_pipes() -> tuple[TextIO, TextIO]:
    """Move the two pipes to the judge out of the way of the student's code: (requests, answers)."""
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def tell_where() -> None:
    """On a crash, and when the judge asks (SIGUSR1), write where the code is to standard error."""
    faulthandler.enable()
    if hasattr(faulthandler, "register"):
        faulthandler.register(signal.SIGUSR1)


def set_limits(memory_mb: int) -> None:
    """Bound what this process can take, where the system offers it. The judge watches from outside as well."""
    try:
        import resource
    except ImportError:
        return
    # Twice the limit: writable mappings count from when they are reserved, the judge counts what is really used.
    wanted = {"RLIMIT_DATA": 2 * memory_mb << 20, "RLIMIT_FSIZE": 64 << 20, "RLIMIT_CORE": 0}
    for name, limit in wanted.items():
        with contextlib.suppress(ValueError, OSError):
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def describe(error: BaseException, job: Job) -> dict[str, Any]:
    """A raised exception as values: type, message, call, the student's last line in it, the traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    files = {part.shown for part in job.parts}
    mine = [i for i, frame in enumerate(frames) if frame.filename in files]
    last = frames[mine[-1]] if mine else None
    where = f"{last.filename}:{last.lineno} in {last.name}" if last else ""
    shown = frames[mine[0] :] if mine else frames[-3:]
    root = str(Path(job.root)) + os.sep
    lines = [f"{f.filename.removeprefix(root)}:{f.lineno} in {f.name}: {f.line}" for f in shown]
    text = str(error)[:2000] if type(error) is not KeyError else f"missing key {error}"[:2000]
    raised = {"type": type(error).__name__, "message": text, "call": told_call(error)}
    return {**raised, "where": where, "trace": lines[-20:]}


def answer(request: dict[str, Any], desk: Desk) -> dict[str, Any]:
    """Run one probe, or load the exercise when none is named. Whatever the student's code raises becomes a value.

    What the fence refused counts, also when the code went on as if nothing had happened.
    """
    try:
        if not request["probe"]:
            importlib.import_module(desk.job.parts[0].module)
            importlib.import_module(PROBES)
            value = None
        else:
            probe = getattr(sys.modules[PROBES], f"probe_{request['probe']}")
            value = plain(recorded(probe, request["args"]) if request["xray"] else probe(request["args"]))
        if (refused := desk.fence.refused()) is not None:
            raise refused
        if why := replaced(desk.job, desk.finders):
            raise OutsideError(why)
        return {"value": value}
    except NotAValue as error:
        return {"refused": str(error)}
    except BaseException as error:
        return {"raised": describe(error, desk.job)}


def requests_of(stream: TextIO) -> Iterator[dict[str, Any]]:
    """The requests, until the judge closes the pipe."""
    for line in stream:
        yield decode(line)


def teller(answers: TextIO) -> Callable[[str], None]:
    """Tells the judge at once of what was refused: it remembers, whatever becomes of this process."""

    def tell(message: str) -> None:
        answers.write(encode({"outside": message[:500]}) + "\n")
        answers.flush()

    return tell


def main() -> None:
    """Answer requests until there are no more."""
    die_with_parent()
    requests, answers = private_pipes()
    job = job_of_text(requests.readline())
    sys.prefix = sys.exec_prefix = job.prefix
    set_limits(job.memory_mb)
    tell_where()
    desk = Desk(job, Path(os.environ[JOB_VARIABLE]), teller(answers))
    for request in requests_of(requests):
        if "next" in request:
            result = {"id": request["id"], "value": desk.turn_to(job_of_text(request["next"]))}
        else:
            result = {"id": request["id"], **answer(request, desk)}
        try:
            line = encode(result)
        except NotAValue as error:
            line = encode({"id": request["id"], "refused": str(error)})
        sys.stdout.flush()
        answers.write(line + "\n")
        answers.flush()


def spawned() -> None:
    """In a process that a graded one has spawned: the same modules and the same fence. Nobody hears of what it says."""
    file = Path(os.environ[JOB_VARIABLE])
    job = job_of_text(file.read_text(encoding="utf-8"))
    sys.prefix = sys.exec_prefix = job.prefix
    chapters = package_modules()
    install(job, chapters, file.parent)
    raise_fence(job, chapters, file.parent, lambda message: None)


if __name__ == "__main__":
    main()
elif __name__ == "__mp_main__":
    spawned()
