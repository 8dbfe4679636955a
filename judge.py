"""Grade what you wrote in work/exercises: `python judge.py --help`. Runs itself in the project's own .venv."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
PYTHON = ROOT / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def main() -> int:
    """Go on in the project's environment, or in this one when there is none and it has what is needed."""
    # The prefix tells environments apart; their interpreters may be links to one file.
    if PYTHON.exists() and Path(sys.prefix).resolve() != (ROOT / ".venv").resolve():
        command = [str(PYTHON), str(Path(__file__).resolve()), *sys.argv[1:]]
        if os.environ.get("MINISGL_JUDGE_STARTED"):
            print(f"{PYTHON} is not an environment of its own: run `make setup`", file=sys.stderr)
            return 3
        os.environ["MINISGL_JUDGE_STARTED"] = "1"
        if os.name == "nt":  # exec on Windows does not wait
            return subprocess.call(command)
        os.execv(command[0], command)
    missing = [name for name in ("torch", "safetensors") if importlib.util.find_spec(name) is None]
    if missing or sys.version_info < (3, 11):
        print("The judge needs the project's environment. Run `make setup` first (see README.md).", file=sys.stderr)
        return 3
    sys.path.insert(0, str(ROOT))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    from workbook.judge.cli import main as judge
    from workbook.judge.limits import adopt_orphans, close_memory

    adopt_orphans()
    close_memory()
    try:
        code = judge()
        sys.stdout.flush()
    except BrokenPipeError:  # `python judge.py | head`: nobody reads on, and the exit would try to write once more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


if __name__ == "__main__":
    raise SystemExit(main())
