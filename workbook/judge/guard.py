"""Notice, while submissions run, that a file of the workbook was changed, and put it back.

Graded code runs as the same user as the judge, so the system does not keep it from writing into the repository.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

GUARDED = ("minisgl_lite", "workbook", "exercises")
_IMPORTABLE = (".py", ".pth", ".so", ".pyd")
_AT_START = re.compile(r".*\.pth|(site|user)customize(\..*)?|pyvenv\.cfg")
"""What an interpreter runs or reads when it starts, in the folders of other packages and in its own."""


@dataclass(frozen=True)
class _Kept:
    """A file as it was. stamp: changes with every write, also with one that puts the old bytes back (the time of a
    change of status cannot be set by hand). data: None for a link, a pipe and what cannot be read.
    """

    stamp: tuple[int, ...]
    data: bytes | None


class Guard:
    """The files of a workbook, and of other folders to be left alone, as they are when it is made.

    Files that appear count as changed where Python would import them: in the package, the classroom, the exercises, and
    beside them at the root; so do those that every interpreter runs when it starts. Caches of compiled modules that
    appear or change are removed without a word.

    folders: whether a folder that was moved away and back counts, too. To make a cache leaves the same trace, so this
    is for when nobody works in the workbook.
    """

    def __init__(self, root: Path, others: Iterable[Path] = (), folders: bool = False) -> None:
        self.root, self.others = root, tuple(others)
        self._kept = {path: _keep(path) for path in self._files()}
        self._beside = {path.name for path in root.iterdir()}
        self._with_folders = folders
        self._folders = self._folder_stamps()

    def changed(self) -> list[str]:
        """What is not what it was, as paths relative to the root where they lie in it; in order. A folder is named
        only where nothing in it can be.
        """
        paths = self._changed()
        return [self._name(path) for path in paths if not any(path in other.parents for other in paths)]

    def _changed(self) -> dict[Path, None]:
        found = [path for path, kept in self._kept.items() if not _same(path, kept)]
        found += [path for path in self._files() if path not in self._kept]
        found += self._new_beside()
        caches = {path for path in found if path.suffix == ".pyc"}
        for path in caches:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        return dict.fromkeys(sorted({*found, *self._moved()} - caches))

    def restore(self) -> Path | None:
        """Put everything back. What had been put in its place is moved to a folder, which is returned."""
        removed: Path | None = None
        for path in self._changed():
            if path in self._folders and path.is_dir() and not path.is_symlink():
                continue  # what lies in it is looked at file by file
            if os.path.lexists(path):
                removed = removed or Path(tempfile.mkdtemp(prefix="judge-removed-"))
                shutil.move(path, removed / f"{len(list(removed.iterdir()))}-{path.name}")
            if (kept := self._kept.get(path)) and kept.data is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(kept.data)
                self._kept[path] = _Kept(_stamp(path), kept.data)
            elif kept:  # a link or a pipe that is gone cannot be made again; once told, it does not count any more
                self._kept[path] = _keep(path)
        self._folders = self._folder_stamps()
        return removed

    def _files(self) -> Iterator[Path]:
        for folder in (*(self.root / name for name in GUARDED), *self.others):
            for where, _, names in os.walk(folder):
                yield from (Path(where, name) for name in sorted(names))
        if os.path.lexists(self.root / "judge.py"):
            yield self.root / "judge.py"
        for folder in dict.fromkeys([Path(sys.prefix), *map(Path, filter(None, sys.path))]):
            if folder != self.root and folder.is_dir():
                yield from (folder / name for name in sorted(os.listdir(folder)) if _AT_START.fullmatch(name))

    def _folder_stamps(self) -> dict[Path, tuple[int, ...]]:
        """What a folder's stamp tells is that it, or something in it, was renamed; its links and its size do not."""
        found: dict[Path, tuple[int, ...]] = {}
        for folder in (*(self.root / name for name in GUARDED), *self.others) if self._with_folders else ():
            for where, names, _ in os.walk(folder):
                names[:] = [name for name in names if name != "__pycache__"]
                with contextlib.suppress(OSError):
                    status = os.lstat(where)
                    found[Path(where)] = (status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
        return found

    def _moved(self) -> list[Path]:
        now = self._folder_stamps()
        return [path for path in now.keys() | self._folders.keys() if now.get(path) != self._folders.get(path)]

    def _new_beside(self) -> list[Path]:
        new = [path for path in self.root.iterdir() if path.name not in self._beside]
        return [path for path in new if path.suffix in _IMPORTABLE or (path / "__init__.py").exists()]

    def _name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)


def _stamp(path: Path) -> tuple[int, ...]:
    status = path.lstat()
    return (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _keep(path: Path) -> _Kept:
    """Never follows a link: what it leads to may have no end."""
    stamp: tuple[int, ...] = ()
    with contextlib.suppress(OSError):
        stamp = _stamp(path)
        if stat.S_ISREG(stamp[0]):
            return _Kept(stamp, path.read_bytes())
    return _Kept(stamp, None)


def _same(path: Path, kept: _Kept) -> bool:
    try:
        return _stamp(path) == kept.stamp and (kept.data is None or path.read_bytes() == kept.data)
    except OSError:
        return kept.stamp == ()
