from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.toybook import SPEC, make_toybook
from workbook.spec import SpecError, load_exercises


def test_paths_of_an_exercise(tmp_path: Path) -> None:
    first, second = load_exercises(make_toybook(tmp_path))
    assert (first.id, second.id) == ("05.1", "05.2")
    assert first.file == second.file == "work/exercises/ch05_line/line.py"
    assert first.package_file == "toy/line.py"
    assert first.task_file == "exercises/ch05_line/05.1.md"
    assert second.hidden == ()
    assert second.memory_mb == 4096


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("chapter = 5", "chapter = 6", "do not name the folder"),
        ('title = "Add up"', "", "missing field title"),
        ("minutes = 10", 'minutes = "10"', "minutes = '10'"),
        ("difficulty = 1", "difficulty = 9", "difficulty = 9"),
        ('id = "05.2"', 'id = "05.1"', "05.1 is specified twice"),
        ('id = "05.2"', 'id = "06.2"', "must be 05.1"),
        ('checks = ["sums"]', "checks = []", "checks is empty"),
        ("importance = 1", "importnace = 1", "unknown field importnace"),
        ("[[exercise]]", "[[exercise]", "spec.toml"),
    ],
)
def test_a_wrong_spec_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    root = make_toybook(tmp_path)
    (root / "exercises/ch05_line/spec.toml").write_text(SPEC.replace(old, new), encoding="utf-8")
    with pytest.raises(SpecError, match=message):
        load_exercises(root)
