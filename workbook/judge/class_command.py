"""`judge.py --class DIR`: what is read, graded and written for a class."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from . import oracles
from .class_report import class_csv, class_json, class_table
from .classroom import grade_class
from .limits import is_root
from .overseer import Order
from .report import as_gradescope, exit_code
from .session import Session, UsageError
from .submissions import find_submissions
from .write import make_folder, make_room, write


def grade_folder(session: Session, args: argparse.Namespace) -> int:
    """Grade every submission in `args.class_`; write the reports asked for, print the table. Raises UsageError."""
    folder = Path(args.class_)
    places = session.places(args.names)
    exercises = [place.exercise for place in places]
    try:
        submissions = find_submissions(folder, session.root, session.places(), exercises[0])
    except OSError as error:
        raise UsageError(f"--class {folder}: {error.strerror}") from error
    if not submissions:
        raise UsageError(f"--class {folder}: there is nothing in it; it should hold a folder for each submission")
    for target in filter(None, (args.json, args.csv, args.teacher_json)):
        make_room(target)
    if args.gradescope:
        make_folder(args.gradescope)
        for submission in submissions:
            make_room(_gradescope(args.gradescope, submission.name))
    if is_root():
        session.say("you are root, and so is what you grade: better another user, or a container (docs/teachers.md)")
    read = session.grader(args.names).read()  # what is wrong with the workbook itself is found before anything runs
    hidden = str(Path(args.hidden).resolve()) if args.hidden else ""
    others = [folder.resolve(), *([Path(hidden)] if hidden else [])]
    oracle = oracles.packed(oracles.live if args.oracle == "live" else oracles.recorded)
    order = Order(session.root, session.seed, oracle, hidden, tuple(str(path) for path in others), read)
    marked = grade_class(order, submissions, exercises, others, session.say)
    if args.json:
        write(args.json, lambda: class_json(marked))
    if args.teacher_json:
        write(args.teacher_json, lambda: class_json(marked, teacher=True))
    if args.csv:
        write(args.csv, lambda: class_csv(marked))
    for one in marked if args.gradescope else ():
        said = [*filter(None, [one.fault]), *one.notes]
        write(_gradescope(args.gradescope, one.name), partial(as_gradescope, one.reports, said))
    if "-" not in (args.json, args.csv, args.teacher_json):
        print(class_table(marked))
    return exit_code([report for one in marked for report in one.reports])


def _gradescope(folder: str, name: str) -> str:
    """The file of one submission's results."""
    return str(Path(folder) / f"{name}.json")
