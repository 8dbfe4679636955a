"""The toy workbook with two earlier chapters, whose modules its exercise 06.1 stands on."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.toybook import make_toybook

MODULES = {
    "pair": '''"""Two numbers. Chapter 03."""


def smaller(a: int, b: int) -> int:
    """The smaller of two."""
    return min(a, b)


def larger(a: int, b: int) -> int:
    """The larger of two."""
    return max(a, b)
''',
    "double": '''"""Twice as much. Chapter 04."""


def double(a: int) -> int:
    """Two times a."""
    return 2 * a
''',
    "desk": '''"""A desk. Chapter 06."""

from toy.double import double
from toy.pair import larger, smaller


def serve(numbers: list[int]) -> list[int]:
    """Smallest and largest of two numbers, and twice the first."""
    return [smaller(*numbers), larger(*numbers), double(numbers[0])]
''',
}

PROBES = {
    "pair": "from toy.pair import larger, smaller\n\n\ndef probe_smaller(args):\n    return smaller(*args['n'])\n\n\n"
    "def probe_larger(args):\n    return larger(*args['n'])\n",
    "double": "from toy.double import double\n\n\ndef probe_double(args):\n    return double(args['n'])\n",
    "desk": "from toy.desk import serve\n\n\ndef probe_serve(args):\n    return serve(args['n'])\n",
}

# What the earlier checks ask is little, so that wrong code may pass them.
ASKED = {
    "03.1": ("pair", "smaller", [2, 3], 2),
    "03.2": ("pair", "larger", [2, 3], 3),
    "04.1": ("double", "double", 2, 4),
    "06.1": ("desk", "serve", [9, 4], [4, 9, 18]),
}


def make_toychapters(root: Path) -> Path:
    """Write the workbook into an empty folder; returns it."""
    make_toybook(root)
    for name, text in MODULES.items():
        mine = {id_: asked for id_, asked in ASKED.items() if asked[0] == name}
        chapter = next(iter(mine))[:2]
        spec, checks = f'chapter = {int(chapter)}\ntopic = "{name}"\n', "from workbook.judge.checklib import Result\n"
        for id_, (_, function, given, answer) in mine.items():
            spec += f"""
[[exercise]]
id = "{id_}"
title = "Write {function}"
module = "toy.{name}"
bodies = ["{function}"]
difficulty = 1
importance = 1
minutes = 1
lines = 1
section = "S"
hints = ["one", "two", "three"]
checks = ["{function} is right"]
seconds = 6
"""
            checks += f"""

def check_{function}_is_right(ask, rng):
    got = ask("{function}", {{"n": {given}}}, seconds=4)
    return Result.ok() if got == {answer} else Result.failed("wrong-{function}", f"got {{got}}, expected {answer}")
"""
        files = {f"toy/{name}.py": text}
        folder = f"exercises/ch{chapter}_{name}"
        files |= {f"{folder}/spec.toml": spec, f"{folder}/checks.py": checks, f"{folder}/probes.py": PROBES[name]}
        for path, content in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content, encoding="utf-8", newline="\n")
    return root


def file_of(name: str) -> str:
    """The student's file of a module."""
    chapter = next(id_ for id_, asked in ASKED.items() if asked[0] == name)[:2]
    return f"work/exercises/ch{chapter}_{name}/{name}.py"
