"""What a pass depended on, and that it goes stale when that changes; the time spent."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.helpers.judging import judge
from tests.helpers.toychapters import file_of, make_toychapters
from workbook.judge import cli
from workbook.progress import Grading, Standing, note_use, record, standing
from workbook.student import create_missing, workplaces


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_toychapters(tmp_path_factory.mktemp("passed"))
    for name in ("03.1", "04.1", "06.1"):
        cli.main(["--solution", name, "--apply"], root)
    assert judge(root)[0] == 0
    return root


@pytest.fixture
def root(passed: Path, tmp_path: Path) -> Path:
    return shutil.copytree(passed, tmp_path / "root")


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def stale(root: Path) -> dict[str, str]:
    return dict(standing(root, workplaces(root)).stale)


def test_nothing_is_stale_after_a_grading(root: Path) -> None:
    assert stale(root) == {}


def test_a_changed_check_or_probe(root: Path) -> None:
    checks = root / "exercises/ch03_pair/checks.py"
    change(checks, "from workbook", "# a comment\nfrom workbook")
    assert stale(root) == {}
    change(checks, "def check_larger_is_right(ask, rng):", "def check_larger_is_right(ask, rng):\n    rng.random()")
    assert stale(root) == {}  # that is the check of 03.2
    change(checks, "def check_smaller_is_right(ask, rng):", "def check_smaller_is_right(ask, rng):\n    rng.random()")
    assert stale(root) == {"03.1": "its checks have changed"}
    probes = root / "exercises/ch04_double/probes.py"
    change(probes, "return double", "return 1 * double")
    assert stale(root)["04.1"] == "its checks have changed"
    assert judge(root)[0] == 0
    assert stale(root) == {}


def test_a_changed_stub(root: Path) -> None:
    change(root / "toy/double.py", '"""Two times a."""', '"""Twice a."""')
    assert stale(root) == {}
    change(root / "toy/double.py", "def double(a: int)", "def double(a: float)")
    assert stale(root) == {"04.1": "its stub has changed"}


def test_changed_code_of_ones_own(root: Path) -> None:
    change(root / file_of("double"), "return 2 * a", "return a + a  # or so")
    assert stale(root) == {"04.1": "your code has changed", "06.1": "your double.py (04.1) has changed"}
    judge(root, "04")
    assert list(stale(root)) == ["06.1"]
    (root / file_of("desk")).write_text("def f(:\n", encoding="utf-8")
    assert "06.1" in stale(root)


def test_a_changed_package(tmp_path: Path) -> None:
    package = tmp_path / "minisgl_lite"
    package.mkdir()
    (package / "early.py").write_text('"""Early. Chapter 04."""\nX = 1\n', encoding="utf-8")
    (package / "late.py").write_text('"""Late. Chapter 06."""\nX = 1\n', encoding="utf-8")
    root = make_toychapters(tmp_path)
    for name in ("03.1", "04.1"):
        cli.main(["--solution", name, "--apply"], root)
    judge(root)
    change(package / "late.py", "X = 1", "X = 2")
    change(package / "early.py", "Early.", "Quite early.")
    assert stale(root) == {}
    change(package / "early.py", "X = 1", "X = 2")
    assert stale(root) == {"04.1": "earlier modules of the package have changed"}


def test_it_is_shown_and_comes_next(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(root / "exercises/ch03_pair/checks.py", "rng):", "rng):\n    rng.random()")
    judge(root, "04")
    said = capsys.readouterr().out
    assert "04 double           [#] 1 of 1" in said
    assert "03 pair" not in said  # of an exercise that was named, its chapter alone is told
    assert "Next: judge 03.1 Write smaller again: python judge.py 03.1" in said
    cli.main(["--progress"], root)
    said = capsys.readouterr().out
    assert "03 pair             [~.] 0 of 2" in said
    assert "# passed   ~ stale   . not attempted" in said
    assert "Stale: 03.1 had passed, but its checks have changed" in said
    assert "Next: judge 03.1 Write smaller again: python judge.py 03.1" in said
    assert cli.main(["--progress"], root) == 0
    assert capsys.readouterr().out.endswith("python judge.py 03.1\n")


def test_a_restored_file_passes_again_without_a_grading(root: Path) -> None:
    path, exercise = root / file_of("pair"), workplaces(root)[0].exercise
    good = path.read_text(encoding="utf-8")
    change(path, "return min(a, b)", "return 0")
    judge(root, exercise.id)
    assert standing(root, workplaces(root)).state(exercise) == "failed"
    path.write_text(good, encoding="utf-8")
    assert standing(root, workplaces(root)).state(exercise) == "passed"


def test_an_old_record_counts_as_stale(root: Path) -> None:
    path = root / "work/progress.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    for basis in (None, [], {"own": 3}):
        data["basis"]["03.1"] = basis
        path.write_text(json.dumps(data), encoding="utf-8")
        assert stale(root) == {"03.1": "it was graded by an earlier version of the judge"}


def test_time_is_counted_where_code_changed(tmp_path: Path) -> None:
    root = make_toychapters(tmp_path)
    create_missing(root)

    def spent() -> dict[str, float]:
        return dict(standing(root, workplaces(root)).spent)

    note_use(root, now=1000.0)
    record(root, {"03.1": Grading("failed", "a"), "03.2": Grading("not attempted", "")}, now=1300.0)
    assert spent() == {"03.1": 300.0}
    record(root, {"03.1": Grading("failed", "a")}, now=1400.0)  # nothing was written
    record(root, {"03.1": Grading("passed", "b"), "03.2": Grading("failed", "c")}, now=1500.0)
    assert spent() == {"03.1": 350.0, "03.2": 50.0}
    record(root, {"03.2": Grading("failed", "d")}, now=90_000.0)  # a day later
    assert spent()["03.2"] == 950.0
    record(root, {"03.2": Grading("failed", "e")}, now=80_000.0)  # the clock was set back
    assert spent()["03.2"] == 950.0
    assert Standing().state(workplaces(root)[0].exercise) == "not attempted"


def test_time_is_shown(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = root / "work/progress.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    data["spent"] = {"03.1": 3000, "03.2": 1830, "04.1": 59}
    path.write_text(json.dumps(data), encoding="utf-8")
    cli.main(["--progress"], root)
    said = capsys.readouterr().out
    assert "[#.] 1 of 2, about 1 h 20 min of work" in said
    assert "[#] 1 of 1\n" in said


@pytest.mark.parametrize(
    "text",
    [
        '{"spent": {"03.1": NaN}}',
        '{"settings": {"last_use": Infinity}}',
        '{"settings": {"last_use": 1e999, "start_at": 100000000000000000000}}',
        '{"settings": {"last_use": "weird", "start_at": "weird"}, "spent": {"03.1": "weird"}, "basis": "weird"}',
        '{"spent": {"03.1": 1' + "0" * 400 + "}}",
        "[" * 100_000,
        '{"basis": {"03.1": ' + "[" * 300 + "]" * 300 + "}}",
    ],
    ids=["nan", "infinity", "too-large", "weird", "digits", "unclosed", "deep"],
)
def test_a_damaged_record_costs_nothing_but_itself(tmp_path: Path, text: str) -> None:
    root = make_toychapters(tmp_path)
    create_missing(root)
    (root / "work/progress.json").write_text(text, encoding="utf-8")
    assert cli.main(["--progress"], root) == 0
    record(root, {"03.1": Grading("failed", "a")}, now=1000.0)
    assert standing(root, workplaces(root)).statuses == {"03.1": "failed"}
