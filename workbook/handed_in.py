"""Read a file that a student wrote, whatever it may be: a text, nothing, or why it cannot be read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

MAX_BYTES = 1_000_000


class Unreadable(ValueError):  # noqa: N818  it names a finding
    """There is something, but no text that can be graded; the message names it and says why."""


def read_work(folder: Path, name: str, links_out: bool = True) -> str | None:
    """The text of `folder/name`, with newlines as line ends; None when nothing is there. Never waits, never runs code.

    links_out: whether links may lead out of `folder`: in a student's own workbook they may, in a submission they would
    reach other submissions. Raises Unreadable.
    """
    path = folder / name
    try:
        if not os.path.lexists(path):
            _through_folders(folder, name)
            return None
        real = path.resolve(strict=True)
        if not links_out and not real.is_relative_to(folder.resolve()):
            raise Unreadable(f"{name} is a link that leads out of the submission")
        if not stat.S_ISREG(real.stat().st_mode):  # opening a pipe, say, would wait for somebody to write to it
            raise Unreadable(f"{name} is not a file")
        with real.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise Unreadable(f"{name} is larger than {MAX_BYTES} bytes")
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"{name} is not UTF-8: byte {error.start} is {data[error.start]:#04x}") from error
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, Unreadable):
            raise
        raise Unreadable(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _through_folders(folder: Path, name: str) -> None:
    """Raises Unreadable when something on the way to a missing file is no folder."""
    for parent in reversed((folder / name).parents):
        if parent != folder and parent.is_relative_to(folder) and os.path.lexists(parent) and not parent.is_dir():
            raise Unreadable(f"{parent.relative_to(folder).as_posix()} is no folder: {name} cannot be there")
