"""What a graded process prints: a file that the judge opened before the process began, and never looks up by name."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO


class Printed:
    """A file for standard error. Its name is gone as soon as the process has it, or (Windows) when it is closed."""

    def __init__(self) -> None:
        writer, name = tempfile.mkstemp(prefix="printed-")
        self._writer, self._path = writer, Path(name)
        self.file: IO[bytes] = self._path.open("rb")
        """For reading; its position is not the writer's."""

    @contextlib.contextmanager
    def writing(self) -> Iterator[int]:
        """The descriptor to be handed on, once."""
        try:
            yield self._writer
        finally:
            os.close(self._writer)
            self._forget()

    def size(self) -> int:
        """Bytes printed so far."""
        return os.fstat(self.file.fileno()).st_size

    def last(self, length: int, end: int) -> str:
        """The last `length` bytes of the first `end`, as text; empty where there are not so many."""
        with contextlib.suppress(OSError, ValueError):
            self.file.seek(max(end - length, 0))
            return self.file.read(max(length, 0)).decode("utf-8", errors="replace").replace("\r\n", "\n")
        return ""

    def close(self) -> None:
        """Forget all of it."""
        self.file.close()
        self._forget()

    def _forget(self) -> None:
        with contextlib.suppress(OSError):
            self._path.unlink()
