"""The submissions of a class: one folder each, read before anything of them runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..handed_in import Unreadable, read_work
from ..spec import Exercise
from ..student import Workplace
from .paper import Paper, read_paper
from .reach import reaches

BASES = ("work/exercises", "exercises", ".")
"""Where in a submission `chNN_topic/...` may lie: in a repository, in a copy of work/, or at the top."""
ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")
IGNORED = ("__MACOSX",)
NOTES = 5


@dataclass(frozen=True)
class Submission:
    """One student's folder. fault: why nothing of it can be graded, else empty. notes: what a teacher should know.

    base: the folder in it in which the chapters' folders were found.
    """

    name: str
    paper: Paper = field(default_factory=lambda: Paper({}))
    fault: str = ""
    notes: tuple[str, ...] = ()
    base: str = BASES[0]


def find_submissions(folder: Path, root: Path, places: Sequence[Workplace], first: Exercise) -> list[Submission]:
    """Every entry of the folder but hidden ones, in order of their names. Raises OSError.

    first: an exercise that is to be graded; where nothing is found, its file serves as an example.
    """
    found: list[Submission] = []
    for entry in sorted(os.listdir(folder)):
        if entry.startswith(".") or entry in IGNORED:
            continue
        name = _unique(entry, [submission.name for submission in found])
        found.append(_read(folder / entry, name, root, places, first))
    return found


def _unique(entry: str, taken: Sequence[str]) -> str:
    """A name that can be printed, for a folder whose name may be any bytes; no two are the same."""
    text = os.fsencode(entry).decode("utf-8", errors="backslashreplace")
    name = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    while name in taken:
        name += "'"
    return name


def _read(path: Path, name: str, root: Path, places: Sequence[Workplace], first: Exercise) -> Submission:
    if path.is_symlink():
        return Submission(name, fault="is a link; a submission is a folder of its own")
    if not path.is_dir():
        return Submission(name, fault="is a file, not a folder (an archive must be unpacked first)")
    try:
        top = _top(path)
        base = next((base for base in BASES if any(_holds(top, base, place) for place in places)), None)
        notes = tuple(_old_copies(top, root, places))
    except OSError as error:
        return Submission(name, fault=f"cannot be read: {error.strerror}")
    if base is None:
        packed = [entry for entry in sorted(os.listdir(top)) if entry.lower().endswith(ARCHIVES)]
        hint = f"; there is an archive, which must be unpacked first: {packed[0]}" if packed else ""
        return Submission(name, notes=(f"no exercise file found (such as {first.file}){hint}", *notes))
    paper = read_paper(top, places, lambda place: _file(base, place), links_out=False)
    notes = (*notes, *_reaching(paper, places))
    return Submission(name, paper, notes=notes, base=(top.relative_to(path) / base).as_posix())


def _reaching(paper: Paper, places: Sequence[Workplace]) -> Iterator[str]:
    """What files name though no exercise needs it: no mistake, but a reason to look."""
    for file, text in paper.readable.items():
        reference = next(place.reference for place in places if place.exercise.file == file)
        if names := reaches(text, reference):
            yield f"{file} uses {', '.join(names)}, which the course's own solution does not: have a look"


def _top(path: Path) -> Path:
    """The folder; what it holds when that is one folder only, as archives often do, and not one that is looked for."""
    inside = [entry for entry in sorted(os.listdir(path)) if not entry.startswith(".") and entry not in IGNORED]
    only = path / inside[0] if len(inside) == 1 else path
    known = only.name in ("work", "exercises") or only.name.startswith("ch")
    return path if known or only.is_symlink() or not only.is_dir() else only


def _file(base: str, place: Workplace) -> str:
    inside = place.exercise.file.removeprefix("work/exercises/")
    return inside if base == "." else f"{base}/{inside}"


def _holds(top: Path, base: str, place: Workplace) -> bool:
    """Whether there is a file of the exercise, or something in its way."""
    try:
        return read_work(top, _file(base, place), links_out=False) is not None
    except Unreadable:
        return True


def _old_copies(top: Path, root: Path, places: Sequence[Workplace]) -> Iterator[str]:
    """Where a submission is a whole repository: check files of it that are not the judge's. They are never used."""
    other: list[str] = []
    for folder in dict.fromkeys(place.exercise.folder for place in places):
        if not (top / folder / "spec.toml").exists():
            continue
        ours, theirs = _check_files(root / folder), _check_files(top / folder)
        for name in sorted(ours.keys() | theirs.keys()):
            if ours.get(name) != theirs.get(name):
                how = "is missing" if name not in theirs else "is new" if name not in ours else "is different"
                other.append(f"{folder}/{name} {how}")
    for line in other[:NOTES]:
        yield f"its own copy of the checks is not the judge's, and was not used: {line}"
    if len(other) > NOTES:
        yield f"and {len(other) - NOTES} more files of its checks"


def _check_files(folder: Path) -> dict[str, str | None]:
    """Name -> text of the spec, the checks and the probes below a folder; None for one that cannot be read."""
    found: dict[str, str | None] = {}
    paths = [*folder.glob("*.py"), *folder.glob("checks/*.py"), *folder.glob("spec.toml")]
    for path in paths:
        name = path.relative_to(folder).as_posix()
        try:
            found[name] = read_work(folder, name)
        except Unreadable:
            found[name] = None
    return found
