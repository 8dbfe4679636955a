"""The command line of `judge.py`."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from ..progress import begin_at
from ..source import SourceError
from ..spec import SpecError
from ..student import create_missing
from ..tree import ROOT, package_modules
from . import commands, oracles
from .checklib import OracleMissing
from .class_command import grade_folder
from .hidden import load_hidden
from .options import check, parser
from .report import as_gradescope, as_json, exit_code, progress, table
from .session import Session, UsageError
from .update_command import newer_stubs, update
from .variants import run_variants, variants_json
from .verdicts import Report
from .write import CannotWrite, make_room, write


def main(argv: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Run the judge. Returns the exit code."""
    p = parser()
    args = p.parse_args(argv)
    check(p, args)
    oracle = oracles.live if args.oracle == "live" else oracles.recorded
    if args.oracle == "live":
        print("running Hugging Face's model on the recorded prompts ...", file=sys.stderr, flush=True)
        with contextlib.suppress(OracleMissing):  # the checks that need it will say so
            oracles.live()
    session = Session(root, args.seed, oracle, lambda line: print(line, file=sys.stderr, flush=True))
    try:
        return _run(with_hidden_checks(session, args.hidden), args)
    except (UsageError, CannotWrite) as error:
        p.error(str(error))
    except (SpecError, SourceError) as error:
        print(f"the workbook itself is broken: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        raise  # whoever read has gone: judge.py ends without a word
    except OSError as error:
        print(f"cannot go on: {error.strerror or error}: {error.filename or 'a file'}", file=sys.stderr)
        return 1


def with_hidden_checks(session: Session, folder: str | None) -> Session:
    """The session with a teacher's own checks added. Raises UsageError, which names what is wrong with them."""
    if not folder:
        return session
    private = (str(Path(folder).resolve()),)
    try:
        hidden = load_hidden(Path(folder), session.root, session.places(), private)
    except SpecError as error:
        raise UsageError(str(error)) from error
    return dataclasses.replace(session, private=private, hidden=hidden)


def _run(session: Session, args: argparse.Namespace) -> int:
    if args.hint:
        return commands.show_hint(session, args.hint)
    if args.solution:
        return commands.show_solution(session, args.solution, args.apply)
    if args.reset:
        return commands.reset(session, args.reset)
    if args.update:
        return update(session, args.names)
    if args.progress:
        print(_progress(session))
        return 0
    if args.class_:
        return grade_folder(session, args)
    if args.start_at is not None:
        _start_at(session, args.start_at)
        if not (args.names or args.json or args.gradescope):
            print(_progress(session))
            return 0
    for target in filter(None, (args.json, args.gradescope)):
        make_room(target)
    if args.watch:
        return commands.watch(session, lambda ids: _finish(session, args, session.grade_student(ids)))
    if args.mutants:
        return _mutants(session, args)
    if args.reference:
        return _finish(session, args, session.grade_reference(args.names), with_progress=False)
    return _finish(session, args, session.grade_student(args.names))


def _finish(session: Session, args: argparse.Namespace, reports: list[Report], with_progress: bool = True) -> int:
    """Write the reports that were asked for, print the table."""
    if args.gradescope:
        write(args.gradescope, lambda: as_gradescope(reports))
    if args.json:
        write(args.json, lambda: as_json(reports))
    if args.json != "-" and args.gradescope != "-":
        print(table(reports, colour=sys.stdout.isatty(), own=args.reference))
        if with_progress:
            some = {r.exercise.chapter for r in reports} if len(reports) < len(session.places()) else ()
            print("\n" + _progress(session, some))
    return exit_code(reports)


def _start_at(session: Session, chapter: int) -> None:
    """Remember where the student begins. Raises UsageError when there is no such chapter."""
    last = max([*package_modules(session.root).values(), *(p.exercise.chapter for p in session.places())], default=0)
    if not 1 <= chapter <= last:
        raise UsageError(f"there is no chapter {chapter:02d}; --start-at takes 01 to {last:02d}")
    begin_at(session.root, chapter)
    before = "" if chapter == 1 else ", on the reference of what comes before; --start-at 1 undoes it"
    session.say(f"you begin at chapter {chapter:02d}{before}")


def _progress(session: Session, chapters: Collection[int] = ()) -> str:
    create_missing(session.root)  # the file that it says to edit is there
    newer = [f"Newer stub: {file} (python judge.py --update merges it)" for file in newer_stubs(session)]
    return "\n".join([progress([p.exercise for p in session.places()], session.standing(), chapters), *newer])


def _mutants(session: Session, args: argparse.Namespace) -> int:
    benches = session.benches(args.names)
    quiet = args.json == "-"
    say: Callable[[str], None] = session.say if quiet else lambda line: print(line, flush=True)
    outcomes = run_variants(session.root, benches, seed=session.seed, oracle=session.oracle, say=say)
    if args.json:
        write(args.json, lambda: variants_json(outcomes))
    graded = {outcome.variant.exercise for outcome in outcomes}
    for id_ in (bare := [b.place.exercise.id for b in benches if b.place.exercise.id not in graded]):
        say(f"{id_} has no variants: nothing shows that its checks find a mistake")
    good = sum(outcome.ok for outcome in outcomes)
    say(f"{good} of {len(outcomes)} variants graded as they should be")
    return 0 if outcomes and not bare and good == len(outcomes) else 1
