"""Use the judge on the toy workbook."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workbook.judge import cli
from workbook.student import create_missing

FILE = "work/exercises/ch05_line/line.py"
BLANK = 'raise NotImplementedError("exercise 05.1: write the body of Line.take")'


def judge(root: Path, *args: str) -> tuple[int, dict[str, Any]]:
    """Run the judge; exit code and the JSON entry of each exercise."""
    out = root / "out.json"
    code = cli.main([*args, "--json", str(out)], root)
    report = json.loads(out.read_text(encoding="utf-8"))
    assert report["score"] == sum(e["score"] for e in report["exercises"])
    assert report["max_score"] == len(report["exercises"])
    return code, {e["id"]: e for e in report["exercises"]}


def around(code: str) -> str:
    """A line that runs code in such a way that the fence takes it for a library's."""
    library = "__import__('os').__file__.replace('os.py', 'textwrap.py')"
    return f"exec(compile({code!r}, {library}, 'exec'), {{}})"


def edit(root: Path, old: str, new: str) -> None:
    """Change the student's file."""
    create_missing(root)
    path = root / FILE
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
