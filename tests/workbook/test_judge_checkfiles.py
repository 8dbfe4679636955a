from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.toybook import CHECKS, make_toybook
from workbook.judge.checkfiles import checks_path, load_checks
from workbook.spec import Exercise, SpecError, load_exercises

SHARED = "from __future__ import annotations\n\nWORD = {word!r}\n"
OWN = "from .common import WORD\n\n\ndef check_sums(ask, rng):\n    return WORD\n"


def split_toybook(root: Path, word: str) -> list[Exercise]:
    """A toybook whose second exercise has a file of checks for itself."""
    exercises = load_exercises(make_toybook(root))
    folder = root / "exercises/ch05_line/checks"
    folder.mkdir()
    (folder / "common.py").write_text(SHARED.format(word=word), encoding="utf-8")
    (folder / "ex2.py").write_text(OWN, encoding="utf-8")
    return exercises


def test_an_exercise_has_its_own_file_or_shares_the_chapters(tmp_path: Path) -> None:
    first, second = split_toybook(tmp_path, "a")
    assert checks_path(tmp_path, first) == "exercises/ch05_line/checks.py"
    assert checks_path(tmp_path, second) == "exercises/ch05_line/checks/ex2.py"
    assert hasattr(load_checks(tmp_path, first)[0], "check_takes_a_prefix")
    assert not hasattr(load_checks(tmp_path, second)[0], "check_takes_a_prefix")


def test_shared_files_are_those_of_the_same_root(tmp_path: Path) -> None:
    words = []
    for word in ("a", "b"):
        root = tmp_path / word
        root.mkdir()
        words.append(load_checks(root, split_toybook(root, word)[1])[0].check_sums(None, None))
    assert words == ["a", "b"]
    assert not list(tmp_path.rglob("__pycache__"))


def test_a_missing_or_broken_file_is_named(tmp_path: Path) -> None:
    first, second = split_toybook(tmp_path, "a")
    (tmp_path / "exercises/ch05_line/checks.py").unlink()
    with pytest.raises(SpecError, match=r"ch05_line/checks\.py is missing"):
        load_checks(tmp_path, first)
    (tmp_path / "exercises/ch05_line/checks/ex2.py").write_text("from .nowhere import x\n" + CHECKS, encoding="utf-8")
    with pytest.raises(SpecError, match=r"checks/ex2\.py cannot be loaded.*nowhere"):
        load_checks(tmp_path, second)
