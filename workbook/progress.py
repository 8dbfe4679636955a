"""How far a student has come: what `work/progress.json` remembers, and which of it no longer holds."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .handed_in import Unreadable, read_work
from .spec import Exercise
from .stamps import Basis, Stamps
from .student import Workplace, write_text
from .tree import ROOT

PROGRESS = "work/progress.json"
PAUSE = 15 * 60.0
"""Seconds. Who does nothing with the judge for longer than this was not at work all the while."""
LAST_CHAPTER = 99
MOST = 1e11
"""Seconds: no time that is remembered is as large."""
_SECTIONS = ("results", "hints", "passed", "basis", "graded", "spent", "settings")


@dataclass(frozen=True)
class Grading:
    """One exercise's grading, to be remembered. digest: of the text that was graded (Workplace.digest).

    basis: what a pass depended on. forget: that text had passed before, and no longer does.
    """

    status: str
    digest: str = ""
    basis: Basis | None = None
    forget: bool = False


@dataclass(frozen=True)
class Standing:
    """Where a student stands. statuses: exercise id -> latest. stale: id of one that had passed -> what has changed.

    spent: id -> seconds of work on it, roughly (see record). start: the chapter begun at.
    """

    statuses: Mapping[str, str] = field(default_factory=dict)
    stale: Mapping[str, str] = field(default_factory=dict)
    spent: Mapping[str, float] = field(default_factory=dict)
    start: int = 1

    def state(self, exercise: Exercise) -> str:
        """The latest status, "stale" when a pass no longer holds, "not attempted" when it was never graded."""
        return "stale" if exercise.id in self.stale else self.statuses.get(exercise.id, "not attempted")


def standing(root: Path, places: Sequence[Workplace]) -> Standing:
    """Compare what is remembered with the files as they are now."""
    progress, stamps = _progress(root), Stamps(root)
    statuses = {key: value for key, value in progress["results"].items() if type(value) is str}
    passed, by_id = passed_digests(root), {place.exercise.id: place for place in places}
    now = {id_: _digest_now(root, place) for id_, place in by_id.items()}

    def label(id_: str) -> str:
        return f"{by_id[id_].exercise.package_path} ({id_})" if id_ in by_id else id_

    stale: dict[str, str] = {}
    for id_, place in by_id.items():
        if now[id_] and passed.get(id_) == now[id_]:
            statuses[id_] = "passed"  # whatever was graded in between: later exercises stand on it again, too
        if statuses.get(id_) == "passed":
            why = stamps.basis(place).changed_since(progress["basis"].get(id_), now, label)
            if why or passed.get(id_) != now[id_]:
                stale[id_] = why or "your code has changed"
    spent = {id_: seconds for id_, value in progress["spent"].items() if (seconds := _number(value)) is not None}
    return Standing(statuses, stale, spent, first_chapter(root))


def results(root: Path = ROOT) -> dict[str, str]:
    """Exercise id -> the status of its latest grading."""
    return {key: value for key, value in _progress(root)["results"].items() if type(value) is str}


def record(root: Path, gradings: Mapping[str, Grading], now: float | None = None) -> None:
    """Remember gradings. now: seconds since the epoch (default: the clock).

    Time since the student last used the judge counts as spent on the exercises whose code has changed since their
    last grading, in equal parts; of a pause at most PAUSE counts.
    """
    progress, now = _progress(root), time.time() if now is None else now
    settings, graded = progress["settings"], progress["graded"]
    changed = [id_ for id_, g in gradings.items() if g.status != "not attempted" and graded.get(id_) != g.digest]
    last = _number(settings.get("last_use"))
    gap = 0.0 if last is None else min(max(now - last, 0.0), PAUSE)
    for id_ in changed:
        before = _number(progress["spent"].get(id_)) or 0.0
        progress["spent"][id_] = round(before + gap / len(changed))
    settings["last_use"] = round(now)
    for id_, grading in gradings.items():
        progress["results"][id_] = grading.status
        graded[id_] = grading.digest
        if grading.basis is not None:
            progress["passed"][id_], progress["basis"][id_] = grading.digest, grading.basis.as_dict()
        if grading.forget:
            progress["passed"].pop(id_, None)
    _save(root, progress)


def note_use(root: Path, now: float | None = None) -> None:
    """Remember that the student is at work."""
    progress = _progress(root)
    progress["settings"]["last_use"] = round(time.time() if now is None else now)
    _save(root, progress)


def passed_digests(root: Path = ROOT) -> dict[str, str]:
    """Exercise id -> the digest of the text that last passed (see Workplace.digest)."""
    return {key: value for key, value in _progress(root)["passed"].items() if type(value) is str}


def first_chapter(root: Path = ROOT) -> int:
    """The chapter that the student chose to begin at; 1 without a choice."""
    chosen = _progress(root)["settings"].get("start_at")
    return chosen if type(chosen) is int and 1 <= chosen <= LAST_CHAPTER else 1


def begin_at(root: Path, chapter: int) -> None:
    """Remember the chapter that the student begins at."""
    progress = _progress(root)
    progress["settings"]["start_at"] = chapter
    _save(root, progress)


def reveal_hint(root: Path, exercise: Exercise) -> tuple[int, str]:
    """The next hint not seen yet, as (number from 1, text), recorded; the last one again when all have been seen."""
    progress = _progress(root)
    seen = progress["hints"].get(exercise.id, 0)
    number = min((seen if type(seen) is int and seen >= 0 else 0) + 1, len(exercise.hints))
    progress["hints"][exercise.id] = number
    _save(root, progress)
    return number, exercise.hints[number - 1]


def _digest_now(root: Path, place: Workplace) -> str:
    try:
        return place.digest(read_work(root, place.exercise.file) or "")
    except Unreadable:
        return ""


def _progress(root: Path) -> dict[str, dict[str, Any]]:
    """What is recorded; a file that a student has damaged counts as empty."""
    try:
        data = json.loads((root / PROGRESS).read_text(encoding="utf-8"), parse_constant=_no_number)
        json.dumps(data, indent=1)  # what is nested too deep could not be written again
    except (OSError, ValueError, RecursionError):
        data = {}
    data = data if type(data) is dict else {}
    return {key: data[key] if type(data.get(key)) is dict else {} for key in _SECTIONS}


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not a number")


def _number(value: object) -> float | None:
    """A number that can be reckoned with; None for anything else."""
    if type(value) not in (int, float):
        return None
    assert isinstance(value, (int, float))
    return float(value) if abs(value) < MOST else None


def _save(root: Path, progress: dict[str, dict[str, Any]]) -> None:
    write_text(root / PROGRESS, json.dumps(progress, indent=1, sort_keys=True) + "\n")
