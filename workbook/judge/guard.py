"""Notice, while submissions run, that a file of the workbook was changed, and put it back.

Graded code runs as the same user as the judge, so the system does not keep it from writing into the repository.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

GUARDED = ("minisgl_lite", "workbook", "exercises")
_IMPORTABLE = (".py", ".pth", ".so", ".pyd")


@dataclass(frozen=True)
class _Kept:
    """A file as it was. stamp: changes with every write, also with one that puts the old bytes back (the time of a
    change of status cannot be set by hand).
    """

    stamp: tuple[int, ...]
    data: bytes


class Guard:
    """The files of a workbook, and of other folders to be left alone, as they are when it is made.

    Files that appear count as changed where Python would import them: in the package, the classroom, the exercises, and
    beside them at the root. Caches of compiled modules that appear or change are removed without a word.
    """

    def __init__(self, root: Path, others: Iterable[Path] = ()) -> None:
        self.root, self.others = root, tuple(others)
        self._kept = {path: _Kept(_stamp(path), path.read_bytes()) for path in self._files()}
        self._beside = {path.name for path in root.iterdir()}

    def changed(self) -> list[str]:
        """The files that are not what they were, as paths relative to the root where they lie in it; in order."""
        found = [path for path, kept in self._kept.items() if not _same(path, kept)]
        found += [path for path in self._files() if path not in self._kept]
        found += self._new_beside()
        caches = [path for path in found if path.suffix == ".pyc"]
        for path in caches:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        return sorted({self._name(path) for path in found if path not in caches})

    def restore(self) -> Path | None:
        """Put everything back. What had been put in its place is moved to a folder, which is returned."""
        removed: Path | None = None
        for name in self.changed():
            path = self.root / name
            if os.path.lexists(path):
                removed = removed or Path(tempfile.mkdtemp(prefix="judge-removed-"))
                shutil.move(path, removed / f"{len(list(removed.iterdir()))}-{path.name}")
            if kept := self._kept.get(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(kept.data)
                self._kept[path] = _Kept(_stamp(path), kept.data)
        return removed

    def _files(self) -> Iterator[Path]:
        for folder in (*(self.root / name for name in GUARDED), *self.others):
            for where, _, names in os.walk(folder):
                yield from (Path(where, name) for name in sorted(names) if Path(where, name).is_file())
        if (self.root / "judge.py").is_file():
            yield self.root / "judge.py"

    def _new_beside(self) -> list[Path]:
        new = [path for path in self.root.iterdir() if path.name not in self._beside]
        return [path for path in new if path.suffix in _IMPORTABLE or (path / "__init__.py").exists()]

    def _name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)


def _stamp(path: Path) -> tuple[int, ...]:
    stat = path.lstat()
    return (stat.st_mode, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


def _same(path: Path, kept: _Kept) -> bool:
    try:
        return _stamp(path) == kept.stamp and path.read_bytes() == kept.data
    except OSError:
        return False
