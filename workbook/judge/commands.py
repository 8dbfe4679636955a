"""The judge's commands that change or show one exercise: hint, solution, reset, watch."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable
from pathlib import Path

from ..progress import first_chapter, reveal_hint
from ..source import SourceError
from ..stubs import read_text
from ..student import Workplace, create_missing, spare_copy, write_text
from .session import Session

WATCH_SECONDS = 0.5


def show_hint(session: Session, name: str) -> int:
    """Print the next staged hint and record that it was seen."""
    exercise = session.place(name).exercise
    number, text = reveal_hint(session.root, exercise)
    print(f"{exercise.id} {exercise.title}, hint {number} of {len(exercise.hints)}\n\n{text}\n")
    rest = len(exercise.hints) - number
    last = f"That was the last: python judge.py --solution {exercise.id}"
    print(f"{rest} more: the same command again." if rest else last)
    return 0


def show_solution(session: Session, name: str, apply: bool) -> int:
    """Print the way from the student's file to the reference; with `apply`, write it."""
    place, path, text = _student(session, name)
    solved = _edited(place, lambda: place.solved(text))
    if solved is None:
        return 1
    file = place.exercise.file
    lines = difflib.unified_diff(text.splitlines(), solved.splitlines(), file, f"{file} (reference)", lineterm="")
    print("\n".join(lines) or f"{file} already has the reference's bodies of {place.exercise.id}")
    if apply and solved != text:
        write_text(path, solved)
        print(f"\nwritten to {file}; judge it with: python judge.py {place.exercise.id}")
    return 0


def reset(session: Session, name: str) -> int:
    """Restore this exercise's definitions from the stub; what else the file holds stays."""
    place, path, text = _student(session, name)
    restored = _edited(place, lambda: place.restored(text))
    if restored is None:
        return 1
    kept = spare_copy(path)
    write_text(kept, text)
    write_text(path, restored)
    print(f"{place.exercise.id} is blank again in {place.exercise.file}; everything else in the file is as it was")
    print(f"what you had is in {kept.name} beside it")
    return 0


def watch(session: Session, regrade: Callable[[list[str]], int], rounds: int | None = None) -> int:
    """Grade everything attempted, then on each save the exercises of the saved file, until interrupted.

    `rounds`: stop after so many looks (tests use it).
    """
    create_missing(session.root)
    places = session.places()
    seen = {place.exercise.file: _stamp(session.root / place.exercise.file) for place in places}
    start = first_chapter(session.root)
    try:
        regrade([place.exercise.id for place in places if place.exercise.chapter >= start])
        print("watching work/exercises; save a file to grade it, Ctrl-C to end", flush=True)
        while rounds is None or (rounds := rounds - 1) >= 0:
            time.sleep(WATCH_SECONDS)
            now = {file: _stamp(session.root / file) for file in seen}
            changed = [file for file in seen if now[file] != seen[file]]
            seen = now
            if changed:
                regrade([place.exercise.id for place in places if place.exercise.file in changed])
    except KeyboardInterrupt:
        print()
    return 0


def _student(session: Session, name: str) -> tuple[Workplace, Path, str]:
    place = session.place(name)
    create_missing(session.root)
    path = session.root / place.exercise.file
    return place, path, read_text(path)


def _edited(place: Workplace, edit: Callable[[], str]) -> str | None:
    """The edited text; None, after saying why, when the student's file is too broken to find its way in it."""
    try:
        return edit()
    except SourceError as error:
        print(f"{place.exercise.file}: {error}")
        print("Mend that first; or move the file away, and the judge makes a fresh one from the stub.")
        return None


def _stamp(path: Path) -> tuple[int, int]:
    try:
        stat = path.stat()
    except OSError:
        return (0, 0)
    return (stat.st_mtime_ns, stat.st_size)
