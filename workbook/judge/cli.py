"""The command line of `judge.py`."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from ..progress import begin_at
from ..source import SourceError
from ..spec import SpecError
from ..tree import ROOT, package_modules
from . import commands, oracles
from .checklib import OracleMissing
from .report import as_gradescope, as_json, exit_code, progress, table
from .session import Session, UsageError
from .variants import run_variants, variants_json
from .verdicts import Report

LATER = {"--class": "DIR", "--hidden": "FOLDER", "--update": None}


def parser() -> argparse.ArgumentParser:
    """The options. argparse itself exits with 2 on a usage error."""
    p = argparse.ArgumentParser(prog="judge.py", description="Grade the exercises in work/exercises.")
    p.add_argument("names", nargs="*", metavar="NN | NN.n", help="a chapter or an exercise; without: all")
    what = p.add_mutually_exclusive_group()
    what.add_argument("--hint", metavar="ID", help="show the next staged hint")
    what.add_argument("--solution", metavar="ID", help="show the way from your file to the reference")
    what.add_argument("--reset", metavar="ID", help="blank this exercise's bodies again")
    what.add_argument("--watch", action="store_true", help="grade again whenever a file is saved")
    what.add_argument("--reference", action="store_true", help="grade the reference: all must pass")
    what.add_argument("--mutants", action="store_true", help="grade the wrong and right variants")
    what.add_argument(
        "--start-at", metavar="NN", type=int, help="begin at chapter NN, on the reference of those before"
    )
    p.add_argument("--apply", action="store_true", help="with --solution: write it into your file")
    p.add_argument("--json", metavar="FILE", help="write a report for programs; - is standard output")
    p.add_argument("--gradescope", metavar="FILE", help="write a report for Gradescope")
    p.add_argument("--seed", type=int, default=0, metavar="N", help="draws other random inputs (default 0)")
    p.add_argument("--oracle", choices=["recorded", "live"], default="recorded", help="Hugging Face's tokens")
    for option, metavar in LATER.items():
        kind = {"action": "store_true"} if metavar is None else {"metavar": metavar}
        p.add_argument(option, dest="later_" + option[2:], help=argparse.SUPPRESS, **kind)  # type: ignore[arg-type]
    return p


def main(argv: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Run the judge. Returns the exit code."""
    p = parser()
    args = p.parse_args(argv)
    for option in LATER:
        if getattr(args, "later_" + option[2:]):
            p.error(f"{option} is not available yet")
    if args.apply and not args.solution:
        p.error("--apply goes with --solution")
    if args.gradescope and args.mutants:
        p.error("--gradescope does not go with --mutants")
    if (args.hint or args.solution or args.reset or args.watch) and (args.names or args.json or args.gradescope):
        p.error("--hint, --solution, --reset and --watch stand alone")
    oracle = oracles.live if args.oracle == "live" else oracles.recorded
    if args.oracle == "live":
        print("running Hugging Face's model on the recorded prompts ...", file=sys.stderr, flush=True)
        with contextlib.suppress(OracleMissing):  # the checks that need it will say so
            oracles.live()
    session = Session(root, args.seed, oracle, lambda line: print(line, file=sys.stderr, flush=True))
    try:
        return _run(session, args)
    except UsageError as error:
        p.error(str(error))
    except (SpecError, SourceError) as error:
        print(f"the workbook itself is broken: {error}", file=sys.stderr)
        return 1


def _run(session: Session, args: argparse.Namespace) -> int:
    if args.hint:
        return commands.show_hint(session, args.hint)
    if args.solution:
        return commands.show_solution(session, args.solution, args.apply)
    if args.reset:
        return commands.reset(session, args.reset)
    if args.start_at is not None:
        _start_at(session, args.start_at)
        if not (args.names or args.json or args.gradescope):
            print(_progress(session))
            return 0
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
        _write(args.gradescope, lambda: as_gradescope(reports))
    if args.json:
        _write(args.json, lambda: as_json(reports))
    if args.json != "-" and args.gradescope != "-":
        print(table(reports, colour=sys.stdout.isatty()))
        if with_progress:
            print("\n" + _progress(session))
    return exit_code(reports)


def _start_at(session: Session, chapter: int) -> None:
    """Remember where the student begins. Raises UsageError when there is no such chapter."""
    last = max([*package_modules(session.root).values(), *(p.exercise.chapter for p in session.places())], default=0)
    if not 1 <= chapter <= last:
        raise UsageError(f"there is no chapter {chapter:02d}; --start-at takes 01 to {last:02d}")
    begin_at(session.root, chapter)
    before = "" if chapter == 1 else ", on the reference of what comes before; --start-at 1 undoes it"
    session.say(f"you begin at chapter {chapter:02d}{before}")


def _progress(session: Session) -> str:
    return progress([p.exercise for p in session.places()], session.standing())


def _mutants(session: Session, args: argparse.Namespace) -> int:
    benches = session.benches(args.names)
    quiet = args.json == "-"
    say: Callable[[str], None] = session.say if quiet else lambda line: print(line, flush=True)
    outcomes = run_variants(session.root, benches, seed=session.seed, oracle=session.oracle, say=say)
    if args.json:
        _write(args.json, lambda: variants_json(outcomes))
    good = sum(outcome.ok for outcome in outcomes)
    say(f"{good} of {len(outcomes)} variants graded as they should be")
    return 0 if outcomes and good == len(outcomes) else 1


def _write(target: str, text: Callable[[], str]) -> None:
    """Write a report to a file, or to standard output. Raises UsageError when the file cannot be written."""
    if target == "-":
        sys.stdout.write(text())
        return
    try:
        Path(target).write_text(text(), encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from error
