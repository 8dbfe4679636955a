"""Running one test of the repository from a notebook cell, in the kernel, so that it sees what was edited there."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from ..source import SourceError, definition_span, replace_span
from .quote import quoted, unquoted


class _Reports:
    """A pytest plugin that keeps the outcome of each test and prints nothing."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.failures: list[str] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.lines.append(f"{report.outcome}: {report.nodeid.rpartition('::')[2]}")
        if report.failed:
            self.failures.append(str(report.longreprtext))

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.failures.append(str(report.longreprtext))


def run_test(root: Path, target: str, cell: str) -> tuple[bool, str]:
    """Run `path::name` (or `path::Class::name`) with its definition as the cell has it.

    Returns whether every case passed, and lines without times: one a case, then what failed. pytest runs in this
    process. An edited test is run from a copy that is thrown away; the file in the repository is never written.
    """
    path, _, name = target.partition("::")
    qualname = name.replace("::", ".")
    file = root / path
    try:
        text = file.read_text(encoding="utf-8-sig")
        same = quoted(text, qualname).rstrip() == cell.rstrip()
        edited = replace_span(text, definition_span(text, qualname), unquoted(text, qualname, cell))
    except (OSError, SourceError) as error:
        return False, f"{target}: {error}"
    if same:
        return _pytest(root, file, name)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / f"edited_{file.name}"
        copy.write_text(edited, encoding="utf-8")
        return _pytest(root, copy, name)


def _pytest(root: Path, file: Path, name: str) -> tuple[bool, str]:
    import pytest

    reports = _Reports()
    before = set(sys.modules)
    options = [
        "-p",
        "no:terminal",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:nbval",
        "-p",
        "no:xdist",
        "--rootdir",
        str(root),
    ]
    options += ["-c", str(root / "pyproject.toml"), "-o", "addopts=--import-mode=importlib"]
    code = pytest.main([*options, f"{file}::{name}"], plugins=[reports])
    for module in set(sys.modules) - before:  # read again next time: the file may have changed
        if getattr(sys.modules[module], "__file__", None) == str(file) and not file.is_relative_to(root):
            del sys.modules[module]
    if not reports.lines and not reports.failures:
        return False, f"{file.name}::{name}: no such test"
    return code == 0, "\n".join([*reports.lines, *reports.failures])
