"""Write a report to a file or to standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path


class CannotWrite(ValueError):  # noqa: N818  it names a state of things
    """The file cannot be written; the message names it."""


def check_writable(target: str) -> None:
    """Find out before hours of grading. Raises CannotWrite; a file that was not there is there, and empty."""
    if target == "-":
        return
    try:
        Path(target).open("a", encoding="utf-8").close()
    except OSError as error:
        raise CannotWrite(f"cannot write {target}: {error.strerror}") from error


def write(target: str, text: Callable[[], str]) -> None:
    """Write a report as UTF-8 with newlines; `-` is standard output. Raises CannotWrite."""
    if target == "-":
        sys.stdout.write(text())
        return
    try:
        Path(target).write_text(text(), encoding="utf-8", newline="\n")
    except OSError as error:
        raise CannotWrite(f"cannot write {target}: {error.strerror}") from error


def make_folder(target: str) -> None:
    """Raises CannotWrite."""
    try:
        Path(target).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(f"cannot make the folder {target}: {error.strerror}") from error
