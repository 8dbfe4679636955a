"""`python -m workbook new-exercise NN.k MODULE:QUALNAME ...`: the files of an exercise, to be filled in.

Nothing of it can pass as it is: the check fails by itself until it is written.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from .source import SourceError, find, parse
from .spec import Exercise, SpecError, load_exercises
from .stubs import read_text, stub_text
from .student import write_text
from .tree import ROOT, chapter_of_source

_SPEC = """
[[exercise]]
id = "{id}"
title = "TODO: what it is about, in a few words"
module = "{module}"
bodies = [{bodies}]
difficulty = 3
importance = 3
minutes = 20
lines = {lines}
section = "TODO: the heading of the chapter to re-read"
hints = [
    "TODO: a nudge: where to look",
    "TODO: the idea",
    "TODO: a plan, line by line",
]
checks = ["TODO first behaviour"]
"""
_TASK = """TODO: write {bodies}. What goes in, what must come out, what must stay as it was; one bullet a rule:

- **TODO: a rule.** An example with numbers.
"""
_CHECKS = '''"""How the answers to exercise {id} are judged. Runs in the judge, beside the package's own modules."""

from __future__ import annotations

from random import Random

from workbook.judge.checklib import Ask, Result


def check_TODO_first_behaviour(ask: Ask, rng: Random) -> Result:
    """TODO: the question that this check answers."""
    got = ask("{probe}", {{"numbers": [rng.randrange(10) for _ in range(5)]}})
    expected = None  # TODO: what the reference, an oracle or arithmetic says
    if got != expected:
        return Result.failed("TODO-name-of-the-mistake", f"got {{got!r}}, expected {{expected!r}}")
    return Result.failed("not-written", "this check is not written yet: end it with Result.ok()")
'''
_PROBE = '''

def probe_{probe}(args: dict[str, object]) -> object:
    """TODO: call what the student wrote, and return plain values: numbers, texts, lists, dicts."""
    raise NotImplementedError("probe_{probe} is not written yet")
'''
_PROBES = '''"""What the judge asks of the student's code: chapter {chapter}. Runs beside it; returns plain values."""

from __future__ import annotations
'''
_NEXT = """
Next, in this order:
  1. {spec}, {task}: replace every TODO. A check "some words" is the function check_some_words
  2. {probes}: probe_{probe}; {checks}: the checks
  3. python judge.py {id} --reference        until it passes
  4. {variants}/: two wrong variants and a right one at least (see those of another exercise);
     python judge.py {id} --mutants          until each wrong one fails with the diagnosis it names
  5. chapters/{chapter}_*.md: put {{{{exercise {id}}}}} on a line of its own, after what it needs
  6. there, add its minutes to `minutes:` and to **Time**; in README.md, one to the chapter's exercises
  7. python -m workbook build --execute      makes the stub and the notebook
     make check                              tests that all of it fits together; commit it"""


class ScaffoldError(ValueError):
    """The exercise cannot be made; the message says why."""


def main(argv: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """0 when the files are there; 2, with one line, when they cannot be made; then nothing is written."""
    p = argparse.ArgumentParser(prog="python -m workbook new-exercise", description="Make the files of an exercise.")
    p.add_argument("id", metavar="NN.k", help="chapter and number, as in 05.4")
    p.add_argument("bodies", nargs="+", metavar="MODULE:QUALNAME", help="a function whose body is asked for")
    p.add_argument("--topic", help="the chapter's topic, where it has no exercises yet, as in scheduler")
    options = p.parse_args(argv)
    try:
        exercise = _exercise(root, options.id, options.bodies, options.topic)
        files = _files(root, exercise)
    except (ScaffoldError, SourceError, SpecError) as error:
        print(f"new-exercise: {error}", file=sys.stderr)
        return 2
    for name, text in files.items():
        print(f"{'extended' if (root / name).exists() else 'made'} {name}")
        write_text(root / name, text)
    (root / exercise.variants_folder).mkdir(parents=True, exist_ok=True)
    print(_NEXT.format(**_names(exercise)))
    return 0


def _exercise(root: Path, id_: str, bodies: Sequence[str], topic: str | None) -> Exercise:
    """The exercise, checked against the package and the exercises that exist. Raises ScaffoldError or SourceError."""
    if not re.fullmatch(r"\d\d\.[1-9]", id_):
        raise ScaffoldError(f"{id_} is not an exercise's number: NN.k, as in 05.4")
    known, chapter = load_exercises(root), int(id_[:2])
    if any(exercise.id == id_ for exercise in known):
        raise ScaffoldError(f"exercise {id_} is there already")
    pairs = [tuple(body.split(":")) for body in bodies]
    modules = list(dict.fromkeys(pair[0] for pair in pairs))
    if any(len(pair) != 2 or not all(pair) for pair in pairs):
        raise ScaffoldError(f"{' '.join(bodies)}: name each body as MODULE:QUALNAME")
    if len(modules) > 1:
        raise ScaffoldError(f"an exercise is about one module, not about {' and '.join(modules)}")
    names = tuple(dict.fromkeys(pair[1] for pair in pairs))
    topics = [e.topic for e in known if e.chapter == chapter]
    if not topics and not re.fullmatch(r"[a-z][a-z0-9_]*", topic or ""):
        raise ScaffoldError(f"chapter {chapter:02d} has no exercises yet: give its --topic, as in --topic scheduler")
    if topics and topic not in (None, topics[0]):
        raise ScaffoldError(f"the topic of chapter {chapter:02d} is {topics[0]}, not {topic}")
    lines = _lines(root, modules[0], names, chapter)
    made = Exercise(
        id=id_,
        title="TODO",
        chapter=chapter,
        topic=topics[0] if topics else str(topic),
        module=modules[0],
        bodies=names,
        hidden=(),
        difficulty=3,
        importance=3,
        minutes=20,
        lines=lines,
        section="TODO",
        hints=("TODO",),
        checks=("TODO first behaviour",),
    )
    stub_text(root, [*(e for e in known if e.stub_file == made.stub_file), made])  # raises where bodies overlap
    return made


def _lines(root: Path, module: str, names: Sequence[str], chapter: int) -> int:
    """How many lines the bodies have. Raises ScaffoldError or SourceError when one is not there, or is no function."""
    path = root / (module.replace(".", "/") + ".py")
    if not path.is_file():
        raise ScaffoldError(f"there is no module {module}")
    text, lines = read_text(path), 0
    there = chapter_of_source(text)
    if there is None or there > chapter:
        belongs = "names no chapter" if there is None else f"belongs to chapter {there:02d}"
        raise ScaffoldError(f"{module} {belongs}: chapter {chapter:02d} cannot ask for its bodies")
    for name in names:
        node = find(parse(text), name)
        if isinstance(node, ast.ClassDef):
            raise ScaffoldError(f"{name} is a class: name its methods")
        lines += (node.end_lineno or 0) - node.body[0].lineno + 1
    return lines


def _files(root: Path, exercise: Exercise) -> dict[str, str]:
    """Path -> text of everything that is made or extended. Raises ScaffoldError when a file is in the way."""
    names = _names(exercise)
    for key in ("task", "checks"):
        if (root / names[key]).exists():
            raise ScaffoldError(f"{names[key]} is there already")
    spec, probes = root / names["spec"], root / names["probes"]
    head = f'chapter = {exercise.chapter}\ntopic = "{exercise.topic}"\n'
    before = read_text(spec).rstrip("\n") + "\n" if spec.exists() else head
    probed = read_text(probes).rstrip("\n") + "\n" if probes.exists() else _PROBES.format(**names)
    return {
        names["spec"]: before + _SPEC.format(**names),
        names["task"]: _TASK.format(bodies=" and ".join(f"`{name}`" for name in exercise.bodies)),
        names["checks"]: _CHECKS.format(**names),
        names["probes"]: probed + _PROBE.format(**names),
    }


def _names(exercise: Exercise) -> dict[str, str]:
    number = exercise.id.split(".")[1]
    return {
        "id": exercise.id,
        "chapter": f"{exercise.chapter:02d}",
        "module": exercise.module,
        "bodies": ", ".join(f'"{name}"' for name in exercise.bodies),
        "lines": str(exercise.lines),
        "probe": f"ex{number}",
        "spec": f"{exercise.folder}/spec.toml",
        "task": exercise.task_file,
        "checks": f"{exercise.folder}/checks/ex{number}.py",
        "probes": f"{exercise.folder}/probes.py",
        "variants": exercise.variants_folder,
    }
