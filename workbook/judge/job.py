"""What the judge hands to a graded process, in a file that the processes it spawns can read too."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

JOB_VARIABLE = "MINISGL_JUDGE_JOB"
"""Environment variable with the path of the job file. Being in every descendant's environment, it also marks them."""


@dataclass(frozen=True)
class Part:
    """One module that the student wrote.

    module: dotted name that `text` replaces. shown: path that tracebacks give for it. donor: the package's own text;
    `borrowed` definitions are taken from it.
    """

    module: str
    shown: str
    text: str
    donor: str
    borrowed: list[str]


@dataclass(frozen=True)
class Job:
    """One exercise to be run.

    root: folder that holds the package. parts: the exercise's own module first, then earlier ones of the student's.
    chapter: later ones are hidden (0: none is). probes, probes_file: text and path of the functions that call into the
    module. private: folders that the code may not read. judges: processes that it may not signal.
    """

    root: str
    parts: list[Part]
    chapter: int
    probes: str
    probes_file: str
    memory_mb: int
    private: list[str] = field(default_factory=list)
    judges: list[int] = field(default_factory=list)

    def save(self, path: Path) -> None:
        """Write the job file."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")


def load_job(path: Path) -> Job:
    """Read a job file."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return Job(**{**data, "parts": [Part(**part) for part in data["parts"]]})
