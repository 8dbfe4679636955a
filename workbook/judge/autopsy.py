"""Where a run first went wrong: the question on which a check failed, asked of the student's code and the reference.

The answers come from two graded processes side by side. Nothing here changes a verdict.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path
from typing import Any

from ..student import write_text
from ..widgets.rounds import side_by_side
from ..words import counted
from .bench import Bench
from .checklib import short, show_round
from .gone import ChildError
from .grade import job_of
from .process import Child
from .verdicts import Question, Report

FOLDER = "work/rounds"


def with_findings(bench: Bench, text: str, report: Report) -> Report:
    """The report, with what can be found out about its first failure added to that check's message.

    Two questions at most are asked again: the one of the first failure, and the first that was compared with Hugging
    Face's tokens. Writes the rounds of a failed schedule to `work/rounds/NN.k.html`. What goes wrong here ends nothing.
    """
    try:
        return _with_findings(bench, text, report)
    except Exception as error:  # the answers are graded code's, and may hold anything
        note = f"where it first went wrong could not be found out: {short(str(error))}"
        return dataclasses.replace(report, notes=(*report.notes, note))


def _with_findings(bench: Bench, text: str, report: Report) -> Report:
    failed = report.first_failure
    if failed is None:
        return report
    lines: list[str] = []
    if question := report.questions.get(failed.name):
        lines += _of_schedule(bench, text, report, question, failed.message)
    if compared := next((name for name, q in report.questions.items() if q.oracle), ""):
        mine, reference = _ask_both(bench, text, report.questions[compared])
        try:
            found = first_wrong_state(mine.get("passes", []), reference.get("passes", []))
        except (TypeError, ValueError, LookupError, AttributeError):  # whoever tampers with the record learns nothing
            found = []
        lines += [line if compared == failed.name else f"{compared}: {line}" for line in found]
    told = dataclasses.replace(failed, message="\n".join([failed.message, *lines]))
    return dataclasses.replace(report, checks=tuple(told if check is failed else check for check in report.checks))


def _of_schedule(bench: Bench, text: str, report: Report, question: Question, said: str) -> list[str]:
    """Where the rounds of a schedule first differ, if it is not said yet, and the file that shows them."""
    if question.oracle:
        return []
    mine, reference = (answer.get("value") for answer in _ask_both(bench, text, question))
    if not (rounds := _rounds(mine)):
        return []
    lines = [line for line in first_wrong_round(rounds, _rounds(reference)) if not re.search(r"\bround \d", said)]
    return [_written(bench.root, report, mine, reference), *lines]


def first_wrong_state(mine: Sequence[Any], reference: Sequence[Any]) -> list[str]:
    """The first forward pass, layer and token at which the states differ, in words. Empty when there is none."""
    for number, (got, want) in enumerate(zip(mine, reference, strict=False)):
        if (got["positions"], got["ids"]) != (want["positions"], want["ids"]):
            return [_other_input(f"forward pass {number}", got, want)]
        where = f"forward pass {number}{_phase(want)}"
        for layer, (have, should) in enumerate(zip(got["layers"], want["layers"], strict=False)):
            for row, (a, b) in enumerate(zip(have, should, strict=False)):
                if not _close(a, b):
                    return [f"the state first goes wrong in {where}, layer {layer}: {_token(want, row)}"]
    return []


def first_wrong_round(mine: Sequence[Any], reference: Sequence[Any]) -> list[str]:
    """The first round that is not the reference's, in words. Empty when there is none."""
    for number in range(max(len(mine), len(reference))):
        got, want = (rounds[number] if number < len(rounds) else None for rounds in (mine, reference))
        if got != want:
            words = [show_round(value) if value is not None else "nothing" for value in (got, want)]
            where = f"the schedule first differs in round {number} (uid:start+tokens)"
            return [f"{where}: {words[0]}; the reference: {words[1]}"]
    return []


def _ask_both(bench: Bench, text: str, question: Question) -> list[dict[str, Any]]:
    exercise = bench.place.exercise

    def ask(whose: str) -> dict[str, Any]:
        try:
            with Child(job_of(bench, whose, exercise.file), exercise.seconds) as child:
                child.load()
                answer = child(question.probe, question.args, seconds=exercise.seconds, xray=question.oracle)
        except ChildError:
            return {}
        return answer if question.oracle and type(answer) is dict else {"value": answer}

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(ask, (text, bench.place.reference)))


def _phase(record: Any) -> str:
    return f" ({record['batch'][0]})" if record["batch"] else ""


def _other_input(where: str, got: Any, want: Any) -> str:
    what = "positions" if got["positions"] != want["positions"] else "ids"
    row = next((i for i, (a, b) in enumerate(zip(got[what], want[what], strict=False)) if a != b), None)
    mine, its = f"yours{_phase(got)}", f"the reference's{_phase(want)}"
    if row is None:
        sizes = f"{mine} computes {counted(len(got[what]), 'token')}, {its} {len(want[what])}"
        return f"{where} is the first with another input: {sizes}"
    said = {"positions": "at position", "ids": "id"}[what]
    difference = f"token {row} of {mine} is {said} {got[what][row]}, of {its} {said} {want[what][row]}"
    return f"{where} is the first with another input: {difference}"


def _token(record: Any, row: int) -> str:
    """`request 1, position 12, page 5`, as far as it is known."""
    position = record["positions"][row]
    if not record["batch"]:
        return f"its token {row}, position {position}"
    _, size, entries = record["batch"]
    first = 0
    for uid, tokens, pages in entries:
        if row < first + tokens:
            page = f", page {pages[position // size]}" if position // size < len(pages) else ""
            return f"request {uid}, position {position}{page}"
        first += tokens
    return f"its token {row}, position {position}"


def _close(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return abs(a - b) <= 1e-3 + 1e-2 * abs(b)


def _rounds(value: Any) -> list[Any]:
    """The rounds in an answer of drive.run; none in any other."""
    rounds = value.get("rounds") if type(value) is dict else None
    return rounds if type(rounds) is list and all(map(_is_round, rounds)) else []


def _is_round(value: Any) -> bool:
    if type(value) is not list or [type(part) for part in value] != [str, list]:
        return False
    return all(type(e) is list and [type(n) for n in e] == [int] * 3 for e in value[1])


def _written(root: Path, report: Report, mine: Any, reference: Any) -> str:
    """Write both schedules to a file; the line that names it."""
    chart = side_by_side(_trace(mine), _trace(reference), ("yours", "the reference"))
    file = f"{FOLDER}/{report.exercise.id}.html"
    title = escape(f"{report.exercise.id} {report.exercise.title}")
    page = f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n'
    style = "<style>body { font-family: sans-serif; margin: 1rem; } h1 { font-size: 1.2rem; }</style>\n"
    write_text(root / file, f"{page}{style}<h1>{title}</h1>\n{chart._repr_html_()}\n</html>\n")
    return f"both schedules, to step through in a browser: {file}"


def _trace(answer: Any) -> list[dict[str, Any]]:
    """The rounds as the viewer reads them. What else a process claims of them is taken only where it is well formed."""
    rounds = _rounds(answer)
    after = answer.get("after") if rounds else []
    if type(after) is not list or len(after) != len(rounds) or not all(map(_is_after, after)):
        after = [{}] * len(rounds)
    return [{"phase": phase, "entries": entries, **more} for (phase, entries), more in zip(rounds, after, strict=True)]


def _is_after(value: Any) -> bool:
    return (
        type(value) is dict
        and value.keys() == {"waiting_uids", "finished", "free_slots", "free_pages"}
        and type(value["waiting_uids"]) is list
        and all(type(uid) is int for uid in value["waiting_uids"])
        and type(value["finished"]) is list
        and all(type(end) is list and [type(part) for part in end] == [int, str] for end in value["finished"])
        and type(value["free_slots"]) is type(value["free_pages"]) is int
    )
