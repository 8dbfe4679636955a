"""Another right answer passes: checks look at no private name, and each exercise proves it with a variant."""

import ast
from pathlib import Path

import pytest
import torch

from workbook.spec import Exercise, load_exercises
from workbook.tree import PACKAGE, ROOT

EXERCISES = load_exercises(ROOT)
FILES = sorted(ROOT.glob("exercises/ch*/checks/*.py")) + sorted(ROOT.glob("exercises/ch*/probes.py"))


def private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def looked_at(source: str) -> set[str]:
    """The private names that code takes from objects and from the package, also by `getattr` and in strings."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            found.add(node.value)
    return {name for name in found if private(name) and name != "_"}


def test_private_names_are_found() -> None:
    source = f"from {PACKAGE}.a import _b, c\nx._d = getattr(x, '_e')\nx.f, x.__len__, self._g()\n'a text _h'\n"
    assert looked_at(source) == {"_b", "_d", "_e", "_g"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT / "exercises").as_posix())
def test_checks_look_at_behaviour(path: Path) -> None:
    asked = {part for e in EXERCISES for name in (*e.bodies, *e.hidden) for part in name.split(".")}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    stored = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
    own |= {n.attr for n in stored if isinstance(n.value, ast.Name) and n.value.id == "self"}
    names = (
        looked_at(path.read_text(encoding="utf-8")) - asked - own - {"_fields", "_replace", "_asdict"}
    )  # named tuples publish these
    assert not {name for name in names if not hasattr(torch.ops.aten, name)}


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_every_exercise_has_another_right_answer(exercise: Exercise) -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / exercise.variants_folder).glob("*.py")]
    kinds = [(ast.get_docstring(ast.parse(text)) or "").partition(":")[0] for text in texts]
    assert kinds.count("right") >= 1
    assert kinds.count("wrong") >= 2
