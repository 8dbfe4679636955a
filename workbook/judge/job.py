"""What the judge hands to a graded process: through its pipe, so that no other process can read it."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

JOB_VARIABLE = "MINISGL_JUDGE_JOB"
"""Environment variable with the path of a file for the job; every descendant's environment has it, which marks them.
The file is there only from when the process itself spawns another one, which reads it.
"""


@dataclass(frozen=True)
class Part:
    """One module that the student wrote.

    module: dotted name that `text` replaces. shown: path that tracebacks give for it. code: the compiled module, with
    what it borrows from the reference in it (see parts.py). fault: why there is none, else empty.
    """

    module: str
    shown: str
    text: str
    code: str
    fault: str = ""


@dataclass(frozen=True)
class Job:
    """One exercise to be run.

    root: folder that holds the package. parts: the exercise's own module first, then earlier ones of the student's.
    chapter: later ones are hidden (0: none is). probes, probes_file: text and path of the functions that call into the
    module. private: folders that the code may not read, each as its digest (see fence.py). prefix: folder of the
    environment; the process is started without looking for one. lasting: whether other jobs may follow in the process.
    """

    root: str
    parts: list[Part]
    chapter: int
    probes: str
    probes_file: str
    memory_mb: int
    private: list[str] = field(default_factory=list)
    lasting: bool = False
    prefix: str = field(default_factory=lambda: sys.prefix)

    def as_text(self) -> str:
        """One line that job_of_text reads."""
        return json.dumps(asdict(self))

    def save(self, path: Path) -> None:
        """Write it to a file."""
        path.write_text(self.as_text(), encoding="utf-8")


def job_of_text(text: str) -> Job:
    """The job in a line."""
    data = json.loads(text)
    return Job(**{**data, "parts": [Part(**part) for part in data["parts"]]})
