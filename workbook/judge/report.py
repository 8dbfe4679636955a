"""Reports of a grading: the table, JSON, Gradescope's JSON, and the exit code."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..progress import Standing
from ..spec import Exercise
from .verdicts import Report

VERSION = 1
WIDTH = 110
SIGNS = {"passed": "✓", "failed": "✗", "error": "✗", "timeout": "✗", "not run": "?", "not attempted": "·"}
MARKS = {
    "passed": "#",
    "stale": "~",
    "failed": "x",
    "error": "x",
    "timeout": "x",
    "not run": "?",
    "not attempted": ".",
}
COLOURS = {"✓": "32", "✗": "31", "?": "33"}


def exit_code(reports: Sequence[Report]) -> int:
    """0: all that was graded passed. 1: something did not, or nothing was attempted. 3: the rest could not be run."""
    statuses = {report.status for report in reports}
    if statuses & {"failed", "error", "timeout"} or not statuses - {"not attempted"}:
        return 1
    return 3 if "not run" in statuses else 0


def as_json(reports: Sequence[Report]) -> str:
    """The report that other programs read. Its bytes are stable but for `seconds`."""
    score, exercises = sum(r.score for r in reports), [entry(r) for r in reports]
    return _dump({"version": VERSION, "score": score, "max_score": len(reports), "exercises": exercises})


def entry(report: Report) -> dict[str, Any]:
    """One exercise in such a report."""
    checks = [
        {"name": c.name, "verdict": c.verdict, "diagnosis": c.diagnosis, "message": c.message} for c in report.checks
    ]
    return {
        "id": report.exercise.id,
        "title": report.exercise.title,
        "chapter": report.exercise.chapter,
        "file": report.exercise.file,
        "status": report.status,
        "score": report.score,
        "max_score": 1,
        "seconds": report.seconds,
        "checks": checks,
    }


def as_gradescope(reports: Sequence[Report], said: Sequence[str] = ()) -> str:
    """Gradescope's results.json: one test an exercise. said: lines about the submission as a whole."""
    tests = [
        {
            "number": r.exercise.id,
            "name": f"{r.exercise.id} {r.exercise.title}",
            "score": r.score,
            "max_score": 1,
            "status": "passed" if r.status == "passed" else "failed",
            "output": "\n".join(visible(line) for line in [r.status, *_failure_lines(r)]),
            "visibility": "visible",
        }
        for r in reports
    ]
    whole = {"output": "\n".join(visible(line) for line in said)} if said else {}
    return _dump({"score": sum(r.score for r in reports), **whole, "tests": tests})


def table(reports: Sequence[Report], colour: bool = False, own: bool = False) -> str:
    """What a student reads: a line an exercise, and for each that did not pass why, and what to do.

    own: what was graded is the course's own solutions, which earn nobody a point.
    """
    width = max((len(r.exercise.title) for r in reports), default=0)
    lines: list[str] = []
    for r in reports:
        sign = SIGNS[r.status]
        if colour and sign in COLOURS:
            sign = f"\033[{COLOURS[sign]}m{sign}\033[0m"
        seconds = f"{r.seconds:5.1f} s" if r.checks else ""
        lines.append(f"{sign} {r.exercise.id}  {r.exercise.title:<{width}}  {_shown_status(r):<13} {seconds}".rstrip())
        lines += [f"    {visible(line)}" for line in _failure_lines(r)]
    score, counted = sum(r.score for r in reports), [r for r in reports if not r.skipped]
    total = f"{score} of the course's {len(reports)} solutions pass" if own else f"{score} of {len(counted)} points"
    if len(counted) < len(reports):
        total += f" since chapter {max(r.skipped for r in reports):02d}"
    return "\n".join([*lines, total])


def progress(exercises: Sequence[Exercise], standing: Standing, chapters: Collection[int] = ()) -> str:
    """Where a student stands: a line a chapter, what no longer holds, and the next exercise to do.

    chapters: those that get a line; left out, all do, and the marks are explained.
    """
    start, states = standing.start, {e.id: standing.state(e) for e in exercises}
    shown = [e for e in exercises if not chapters or e.chapter in chapters]
    lines = ["Progress"]
    for chapter in dict.fromkeys((e.chapter, e.topic) for e in shown):
        mine = [e for e in exercises if (e.chapter, e.topic) == chapter]
        passed = sum(states[e.id] == "passed" for e in mine)
        marks = MARKS if chapter[0] >= start else {**MARKS, "not attempted": "-"}
        bar = "".join(marks[states[e.id]] for e in mine)
        said = f", {skipped_words(start)}" if chapter[0] < start else ""
        spent = duration(sum(standing.spent.get(e.id, 0) for e in mine))
        lines.append(f"  {chapter[0]:02d} {chapter[1]:<16} [{bar}] {passed} of {len(mine)}{said}{spent}")
    used = {state for state in states.values() if state in MARKS}
    if not chapters and used - {"passed", "not attempted"}:
        lines.append("  " + "   ".join(f"{MARKS[state]} {state}" for state in MARKS if state in used))
    lines += [f"Stale: {e.id} had passed, but {standing.stale[e.id]}" for e in shown if e.id in standing.stale]
    return "\n".join([*lines, *_next(exercises, states, start)])


def _next(exercises: Sequence[Exercise], states: Mapping[str, str], start: int) -> list[str]:
    """What to do next."""
    todo = next((e for e in exercises if e.chapter >= start and states[e.id] != "passed"), None)
    if todo is None:
        since = f" from chapter {start:02d} on" if start > 1 else ""
        return [f"Everything{since} passed."]
    state, again = states[todo.id], f"python judge.py {todo.id}"
    if state == "not attempted":
        effort = f"about {todo.minutes} min, {todo.lines} lines"
        return [f"Next: {todo.id} {todo.title} ({effort}). Edit {todo.file}", f"      then: {again}"]
    if state == "stale":
        return [f"Next: judge {todo.id} {todo.title} again: {again}"]
    if state == "not run":
        return [f"Next: {todo.id} {todo.title} could not be judged; its report says why"]
    return [f"Next: mend {todo.id} {todo.title} in {todo.file}"]


def duration(seconds: float) -> str:
    """`, about 1 h 20 min` of work; empty for less than a minute."""
    minutes = int(seconds // 60)
    hours = f"{minutes // 60} h " if minutes >= 60 else ""
    return f", about {hours}{minutes % 60} min of work" if minutes else ""


def skipped_words(start: int) -> str:
    """What is said of exercises before the chapter that the student began at."""
    return f"skipped: started at {start:02d}"


def _shown_status(report: Report) -> str:
    return skipped_words(report.skipped) if report.skipped else report.status


def _failure_lines(report: Report) -> list[str]:
    """The first failure, the path to it, what the code printed, what to do; then the notes."""
    if report.status == "not attempted":
        return []
    exercise = report.exercise
    notes = [line for note in report.notes for line in _wrapped(note)]
    lines = [f"{c.name}: tie. {c.message}" for c in report.checks if c.verdict == "tie"]
    failed = report.first_failure
    if failed is None:
        return [*notes, *lines, *(f"{c.name}: not run. {c.message}" for c in report.checks if c.verdict == "not run")]
    good = sum(c.verdict in ("ok", "tie") for c in report.checks)
    hold = "1 check holds" if good == 1 else f"{good} checks hold"
    named = f" [{failed.diagnosis}]" if failed.diagnosis else ""  # of a hidden check nothing is told but its name
    lines.append(f"{hold}; first failure: {failed.name}{named}")
    first, *more = failed.message.splitlines() or [""]
    lines += [
        f"  {first}",
        *(f"  | {line}" for line in more),
    ]  # a line of its own may be a command to who shows the log
    if report.trace:
        lines += ["traceback:", *(f"  {line}" for line in report.trace[-6:])]
    if report.printed.strip():
        lines += ["your code printed:", *(f"  | {line}" for line in report.printed.strip().splitlines()[-8:])]
    if failed.name == "load":  # the file, not the idea: neither chapter nor hint would help
        return [*lines, *notes]
    lines.append(f"re-read: chapter {exercise.chapter:02d}, {failed.section or exercise.section}")
    again = f"   the same inputs again: python judge.py {exercise.id} --seed {report.seed}"
    if not failed.diagnosis:  # those of a hidden check are a teacher's
        again = ""
    return [*lines, f"a hint: python judge.py --hint {exercise.id}{again}", *notes]


def visible(text: str) -> str:
    """A line with its control characters spelt out: what a submission prints must not move a terminal's cursor."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _wrapped(note: str) -> list[str]:
    return textwrap.wrap(note, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _dump(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
