"""Write a report to a file or to standard output."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from collections.abc import Callable
from pathlib import Path


class CannotWrite(ValueError):  # noqa: N818  it names a state of things
    """The file cannot be written; the message names it."""


def make_room(target: str) -> None:
    """Find out before hours of grading, and take an earlier report away: should the judge be killed, it must not be
    taken for this one. Raises CannotWrite.
    """
    if target == "-":
        return
    path = Path(target)
    try:
        path.open("a", encoding="utf-8").close()
        if path.is_file():
            path.resolve().unlink()
    except OSError as error:
        raise CannotWrite(f"cannot write {target}: {error.strerror}") from error


def write(target: str, text: Callable[[], str]) -> None:
    """Write a report as UTF-8 with newlines, whole or not at all; `-` is standard output. Raises CannotWrite."""
    if target == "-":
        sys.stdout.write(text())
        return
    path = Path(target)
    try:
        if path.exists() and not path.is_file():  # a pipe, a device
            _put(path, text())
            return
        path = path.resolve()
        part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
        try:
            _put_new(part, text())
            part.replace(path)
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
    except OSError as error:
        raise CannotWrite(f"cannot write {target}: {error.strerror}") from error


def _put(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


def _put_new(path: Path, text: str) -> None:
    """Nobody can have put a pipe or a link there before: then there is an error."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags, 0o666), "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        file.write(text)


def make_folder(target: str) -> None:
    """Raises CannotWrite."""
    try:
        Path(target).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(f"cannot make the folder {target}: {error.strerror}") from error
