"""What an exercise stands on: the student's own earlier work where that has passed, else the reference.

Earlier work must never cost a later exercise. So the check that fails on it is asked again on the reference; when that
passes, all are, and the module at fault is looked for and named.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..spec import Exercise
from ..student import Workplace
from .bench import Bench
from .grade import Oracle, grade
from .parts import Piece, borrowed
from .verdicts import Report

SLACK = 5.0
"""Seconds that a search run gets beyond twice the time in which the reference passed: own work may hang."""


@dataclass(frozen=True)
class Ground:
    """own: what the student has passed, with the texts. reference: the other exercises of earlier modules.

    changed: those of `reference` that had passed before the student changed them. start: the chapter that the student
    began at; all before it is the reference's.
    """

    own: tuple[Piece, ...] = ()
    reference: tuple[Exercise, ...] = ()
    start: int = 1
    changed: tuple[Exercise, ...] = ()


def ground_of(
    place: Workplace, places: Sequence[Workplace], texts: Mapping[str, str], passed: Mapping[str, str], start: int
) -> Ground:
    """What one exercise stands on: those before it, of earlier chapters and of its own, and the others of its file.

    texts: the student's files, by path. passed: exercise id -> digest of the text that last passed.
    """
    own: list[Piece] = []
    reference: list[Exercise] = []
    changed: list[Exercise] = []
    before = True
    for other in places:
        exercise = other.exercise
        same_file = exercise.file == place.exercise.file
        before = before and exercise != place.exercise
        if exercise == place.exercise or not (before or same_file):
            continue
        if exercise.module == place.exercise.module and not same_file:
            continue  # there is one file a module; an earlier form of it has no place here
        text = texts.get(exercise.file, "")
        digest = passed.get(exercise.id) if exercise.chapter >= start or same_file else None
        if digest and text and other.digest(text) == digest:
            own.append(Piece(other, text))
        elif not same_file:
            reference.append(exercise)
            if digest and text:
                changed.append(exercise)
    return Ground(tuple(own), tuple(reference), start, tuple(changed))


def grade_on(bench: Bench, text: str, ground: Ground, *, seed: int, oracle: Oracle) -> Report:
    """Grade a student's text on its ground; on the reference when that fails. The notes say what was used."""
    place = bench.place
    if place.fault(text) or not ground.own:
        report = grade(bench, text, seed=seed, oracle=oracle)
        return _noted(report, _used(place, text, ground, ()))
    start = time.monotonic()
    report = grade(bench, text, seed=seed, oracle=oracle, own=ground.own)
    if report.status == "passed":
        report = dataclasses.replace(report, stood_on=tuple(piece.exercise.id for piece in ground.own))
        return _noted(report, _used(place, text, ground, ground.own))
    note = "The mistake is in this exercise, not in your earlier files."
    if (failed := report.first_failure) is not None:
        one = {name: check for name, check in bench.checks.items() if name == failed.name}
        once = grade(dataclasses.replace(bench, checks=one), text, seed=seed, oracle=oracle)
        if once.first_failure is not None:
            return _noted(_timed(_with_first(report, once), start), note)
    again = grade(bench, text, seed=seed, oracle=oracle)
    if again.status != "passed":
        return _noted(_timed(again, start), note)
    guilty = _search(bench, text, ground.own, again.seconds, seed, oracle)
    why = f"{failed.name} [{failed.diagnosis}]" if failed else report.status
    note = (
        f"passed on the reference alone; with your own earlier modules it would not: {why}\n"
        f"{label([guilty.exercise])} seems at fault, though its own checks passed: look at it again"
    )
    return _noted(_timed(again, start), note)


def _with_first(report: Report, once: Report) -> Report:
    """The report with its first failure as it is on the reference alone."""
    checks = tuple(once.first_failure if c is report.first_failure else c for c in report.checks)
    questions = {**report.questions, **once.questions}
    return dataclasses.replace(once, checks=tuple(c for c in checks if c is not None), questions=questions)


def label(exercises: Iterable[Exercise]) -> str:
    """`models/rope.py (01.1), core.py (03.2, 03.3)`."""
    files: dict[str, list[str]] = {}
    for exercise in exercises:
        files.setdefault(exercise.package_path, []).append(exercise.id)
    return ", ".join(f"{path} ({', '.join(ids)})" for path, ids in files.items())


def _search(bench: Bench, text: str, own: Sequence[Piece], usual: float, seed: int, oracle: Oracle) -> Piece:
    """The first piece with which grading no longer passes, found by halving: few runs, each bounded in time."""

    def fails(count: int) -> bool:
        seconds = 2 * usual + SLACK
        run = grade(bench, text, seed=seed, oracle=oracle, own=own[:count], stop=True, seconds=seconds)
        return run.status != "passed"

    good, bad = 0, len(own)
    while bad - good > 1:
        middle = (good + bad) // 2
        if fails(middle):
            bad = middle
        else:
            good = middle
    return own[bad - 1]


def _used(place: Workplace, text: str, ground: Ground, own: Sequence[Piece]) -> str:
    """One line: what was the student's own, and what the reference's. Empty where there was nothing to choose."""
    beside = [piece.exercise for piece in own if piece.exercise.file == place.exercise.file]
    names = [] if place.fault(text) else borrowed(place, text, beside)
    rest = [*_chapters(ground, {place.exercise.chapter, *(piece.exercise.chapter for piece in own)}), *names]
    words = []
    if own:
        words.append(f"your own: {', '.join(_own(ground, own, place.exercise.chapter))}")
    if rest:
        words.append(f"{'' if own else 'from the '}reference: {', '.join(rest)}")
    return "; ".join(words)


def _own(ground: Ground, own: Sequence[Piece], chapter: int) -> list[str]:
    """What was the student's own: earlier chapters as a whole where nothing in them was the reference's, else modules.

    chapter: that of the exercise. A chapter of one exercise is told as its module.
    """
    mixed = {chapter, *(exercise.chapter for exercise in ground.reference)}
    names: list[str] = []
    whole: list[int] = []
    for number, exercises in groupby(_exercises(own), key=lambda e: e.chapter):
        if len(mine := list(exercises)) > 1 and number not in mixed:
            whole.append(number)
        else:
            names.append(label(mine))
    if len(whole) > 2 and whole == list(range(whole[0], whole[-1] + 1)):
        return [f"chapters {whole[0]:02d} to {whole[-1]:02d}", *names]
    return [*(f"chapter {number:02d}" for number in whole), *names]


def _chapters(ground: Ground, mixed: set[int]) -> list[str]:
    """What came from the reference: a chapter as a whole where nothing in it was the student's, else its modules."""
    names: list[str] = []
    if before := [e.chapter for e in ground.reference if e.chapter < ground.start]:
        span = f"chapter {before[0]:02d}" if len(set(before)) == 1 else f"chapters {before[0]:02d} to {before[-1]:02d}"
        names.append(f"{span} (you started at {ground.start:02d})")
    if changed := _changed(ground.changed):
        names.append(changed)
    later = (e for e in ground.reference if e.chapter >= ground.start and e not in ground.changed)
    for chapter, exercises in groupby(later, key=lambda e: e.chapter):
        whole = chapter not in mixed | {e.chapter for e in ground.changed}
        names.append(f"chapter {chapter:02d}" if whole else label(exercises))
    return names


def _changed(exercises: Sequence[Exercise]) -> str:
    """The one that has changed since it passed, or how many, from where to where."""
    if len(exercises) < 2:
        return "".join(f"{e.package_path} ({e.id}, changed since it last passed)" for e in exercises)
    chapters = " ".join(dict.fromkeys(f"{e.chapter:02d}" for e in exercises))
    span = f"{len(exercises)} exercises, {exercises[0].id} to {exercises[-1].id}"
    return f"{span} (changed since they last passed; grade again with `python judge.py {chapters}`)"


def _exercises(own: Iterable[Piece]) -> list[Exercise]:
    return [piece.exercise for piece in own]


def _timed(report: Report, start: float) -> Report:
    return dataclasses.replace(report, seconds=round(time.monotonic() - start, 2))


def _noted(report: Report, note: str) -> Report:
    return dataclasses.replace(report, notes=(*report.notes, *note.splitlines()))
