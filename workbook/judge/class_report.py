"""Reports on a class: JSON, a table, CSV. Equal gradings give equal bytes: there are no times in them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any

from ..spec import Exercise
from .classroom import Marked
from .report import VERSION, entry, visible
from .verdicts import Report

WIDEST = 160
"""Characters of a line of the table; the JSON report has the whole message."""
_UNSTABLE = (
    (re.compile(r"\b0x[0-9a-f]{6,16}\b"), "0x…"),  # where an object lay in memory
    (re.compile(r"\bjudge-(class-)?[a-z0-9_]{8}\b"), "judge-…"),  # a graded process's own folder
)


def class_json(marked: Sequence[Marked], teacher: bool = False) -> str:
    """The report that other programs read: a list of submissions, each with its exercises as in `--json`.

    teacher: hidden checks tell what they found.
    """
    submissions = [
        {
            "name": one.name,
            "score": one.score,
            "max_score": len(one.reports),
            "fault": one.fault,
            "notes": list(one.notes),
            "exercises": [_entry(one, report, teacher) for report in one.reports],
        }
        for one in marked
    ]
    most = max((len(one.reports) for one in marked), default=0)
    report = {"version": VERSION, "max_score": most, "submissions": submissions}
    return _stable(json.dumps(report, indent=2, ensure_ascii=False)) + "\n"


def _entry(one: Marked, report: Report, teacher: bool) -> dict[str, Any]:
    values = {key: value for key, value in entry(report).items() if key != "seconds"}
    values["file"] = str(PurePosixPath(one.base, report.exercise.file.removeprefix("work/exercises/")))
    if teacher:
        for check, told in zip(report.checks, values["checks"], strict=True):
            told["message"] = told["message"] or check.told
    return values


def class_csv(marked: Sequence[Marked]) -> str:
    """A line a submission: name, points, the status of each exercise, the fault when nothing could be graded, notes."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["submission", "points", "max_points", *(e.id for e in _exercises(marked)), "fault", "notes"])
    for one in marked:
        # A spreadsheet would take a name that begins so for a formula.
        name = f"'{one.name}" if one.name[:1] in ("=", "+", "-", "@") else one.name
        writer.writerow(
            [name, one.score, len(one.reports), *(r.status for r in one.reports), one.fault, "; ".join(one.notes)]
        )
    return out.getvalue()


def class_table(marked: Sequence[Marked]) -> str:
    """What a teacher reads: points a chapter and in all; below, how many passed each exercise, and what went wrong."""
    chapters = [chapter for chapter, _ in groupby(_exercises(marked), key=lambda e: e.chapter)]
    width = max([len("submission"), *(len(one.name) for one in marked)])
    lines = [f"{'submission':<{width}}  " + "".join(f"{chapter:02d}     " for chapter in chapters) + "points"]
    for one in marked:
        cells = [_points([r for r in one.reports if r.exercise.chapter == chapter]) for chapter in chapters]
        lines.append(f"{one.name:<{width}}  " + "".join(f"{c:<7}" for c in cells) + _points(one.reports, " of "))
    passed = [
        f"{e.id} {sum(r.status == 'passed' for one in marked for r in one.reports if r.exercise == e)}"
        for e in _exercises(marked)
    ]
    lines += ["", f"passed, of {len(marked)} submissions: {', '.join(passed)}"]
    for one in marked:
        if details := _details(one):
            lines += ["", one.name, *(f"    {visible(line)}" for line in details)]
    return _stable("\n".join(lines))


def _details(one: Marked) -> list[str]:
    if one.fault:
        return [one.fault, *one.notes]
    lines = list(one.notes)
    for report in one.reports:
        if report.status in ("passed", "not attempted"):
            continue
        failed = report.first_failure
        why = f"{failed.name} [{failed.diagnosis or 'not told'}] {failed.message}" if failed else "see its checks"
        line = f"{report.exercise.id} {report.status}: {' '.join(why.split())}".rstrip()
        lines.append(line if len(line) <= WIDEST else line[: WIDEST - 1] + "…")
    return lines


def _points(reports: Sequence[Report], of: str = "/") -> str:
    return f"{sum(report.score for report in reports)}{of}{len(reports)}"


def _exercises(marked: Sequence[Marked]) -> list[Exercise]:
    return [report.exercise for report in marked[0].reports] if marked else []


def _stable(text: str) -> str:
    for pattern, word in _UNSTABLE:
        text = pattern.sub(word, text)
    return text
