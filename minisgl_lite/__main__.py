"""`python -m minisgl_lite COMMAND`. Chapter 01."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

LATER = {
    "serve": "15 (the OpenAI-compatible server)",
    "shell": "15 (the OpenAI-compatible server)",
    "bench": "16 (the policy lab)",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; its exit status. 2 for one whose chapter is not there yet."""
    parser = argparse.ArgumentParser(prog="python -m minisgl_lite", description=__doc__.partition(".")[0])
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("doctor", help="what is here, what is missing, and which chapters run")
    fetch = commands.add_parser("fetch", help="get a real pretrained checkpoint into your cache")
    fetch.add_argument("name", choices=["smollm2"], help="smollm2: SmolLM2-135M-Instruct, 100 MB to download")
    for name, chapter in LATER.items():
        commands.add_parser(name, help=f"comes with chapter {chapter}")
    args, rest = parser.parse_known_args(argv)
    if args.command in LATER:
        print(f"{args.command} comes with chapter {LATER[args.command]}", file=sys.stderr)
        return 2
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if args.command == "doctor":
        from .cli.doctor import doctor

        return doctor()
    from .cli.fetch import fetch_smollm2

    return fetch_smollm2()


if __name__ == "__main__":
    sys.exit(main())
