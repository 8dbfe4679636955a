"""Go on in the project's own environment, `.venv`, whichever Python a command was started with.

Runs before anything else does, in any Python 3: the standard library only.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STARTED = "MINISGL_STARTED"


def reenter(arguments: Sequence[str], needs: Sequence[str], what: str) -> int | None:
    """Run Python with these arguments in the project's environment, unless this is it; does not return then.

    None: go on here. Else an exit status: what was started has ended, or nothing can be, and why has been said.
    needs: modules without which there is no going on here. what: what needs them, as in `The judge`.
    """
    # The prefix tells environments apart; their interpreters may be links to one file.
    if PYTHON.exists() and Path(sys.prefix).resolve() != (ROOT / ".venv").resolve():
        command = [str(PYTHON), *arguments]
        if os.environ.get(STARTED):
            print(f"{PYTHON} is not an environment of its own: run `make setup`", file=sys.stderr)
            return 3
        os.environ[STARTED] = "1"
        if os.name == "nt":  # exec on Windows does not wait
            return subprocess.call(command)
        os.execv(command[0], command)
    os.environ.pop(STARTED, None)  # what is started from here, a terminal for one, may have to enter it as well
    if sys.version_info < (3, 11) or any(importlib.util.find_spec(name) is None for name in needs):
        print(f"{what} needs the project's environment. Run `make setup` first (see README.md).", file=sys.stderr)
        return 3
    return None
