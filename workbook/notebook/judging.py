"""`%judge` in a notebook: the judge's own report, from a process of its own, as text."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

_MISUSED = (2, 3)  # the judge's exit statuses for a usage error, and for nothing that could be run
_ENDLESS = "--watch"


def judged(root: Path, line: str) -> tuple[str, bool]:
    """Run `judge.py` with the words of the line: (what it says, whether it could be used so).

    Nothing of what a student wrote comes into this process. Interrupting the kernel ends the judge as well.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        return f"%judge {line}: {error}", False
    if any(len(word) > 3 and _ENDLESS.startswith(word) for word in words):
        return f"{_ENDLESS} never ends: use it in a terminal (python judge.py {_ENDLESS})", False
    done = subprocess.run(
        [sys.executable, str(root / "judge.py"), *words],
        cwd=root,
        env={**os.environ, "PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    said = done.stdout.strip()
    if said:
        return said, True
    return (
        done.stderr.strip() or f"the judge said nothing, exit status {done.returncode}",
        done.returncode not in _MISUSED,
    )
