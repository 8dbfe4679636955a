"""The options of `judge.py`, and which of them go together."""

from __future__ import annotations

import argparse

ALONE = ("hint", "solution", "reset", "watch", "update", "progress")
"""Commands that write no report."""


def parser() -> argparse.ArgumentParser:
    """The options. argparse itself exits with 2 on a usage error."""
    p = argparse.ArgumentParser(prog="judge.py", description="Grade the exercises in work/exercises.")
    p.add_argument("names", nargs="*", metavar="NN | NN.n", help="a chapter or an exercise; without: all")
    what = p.add_mutually_exclusive_group()
    what.add_argument("--hint", metavar="ID", help="show the next staged hint")
    what.add_argument("--solution", metavar="ID", help="show the way from your file to the reference")
    what.add_argument("--reset", metavar="ID", help="blank this exercise's bodies again")
    what.add_argument("--update", action="store_true", help="merge newer stubs into your files; your bodies stay")
    what.add_argument("--progress", action="store_true", help="show how far you are, and grade nothing")
    what.add_argument("--watch", action="store_true", help="grade again whenever a file is saved")
    what.add_argument("--reference", action="store_true", help="grade the reference: all must pass")
    what.add_argument("--mutants", action="store_true", help="grade the wrong and right variants")
    what.add_argument("--class", dest="class_", metavar="DIR", help="grade a folder of submissions")
    what.add_argument(
        "--start-at", metavar="NN", type=int, help="begin at chapter NN, on the reference of those before"
    )
    p.add_argument("--apply", action="store_true", help="with --solution: write it into your file")
    p.add_argument("--json", metavar="FILE", help="write a report for programs; - is standard output")
    p.add_argument("--gradescope", metavar="FILE", help="write a report for Gradescope; with --class a folder of them")
    p.add_argument("--csv", metavar="FILE", help="with --class: write a line for each submission")
    p.add_argument(
        "--teacher-json", metavar="FILE", help="with --class and --hidden: as --json, and what hidden checks found"
    )
    p.add_argument("--hidden", metavar="FOLDER", help="add checks from a folder outside the repository")
    p.add_argument("--seed", type=int, default=0, metavar="N", help="draws other random inputs (default 0)")
    p.add_argument("--oracle", choices=["recorded", "live"], default="recorded", help="Hugging Face's tokens")
    return p


def check(p: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Exit with a usage error when options do not go together."""
    alone = next((name for name in ALONE if getattr(args, name)), "")
    if args.apply and not args.solution:
        p.error("--apply goes with --solution")
    if args.csv and not args.class_:
        p.error("--csv goes with --class")
    if args.teacher_json and not (args.class_ and args.hidden):
        p.error("--teacher-json goes with --class and --hidden")
    if args.gradescope and args.mutants:
        p.error("--gradescope does not go with --mutants")
    if args.hidden and (alone not in ("", "watch") or args.mutants):
        p.error(f"--hidden does not go with --{alone or 'mutants'}")
    if alone and (args.json or args.gradescope or (args.names and alone != "update")):
        p.error(f"--{alone} stands alone" + (", or with names of exercises" if alone == "update" else ""))
    if args.class_ and args.gradescope == "-":
        p.error("with --class, --gradescope takes a folder")
