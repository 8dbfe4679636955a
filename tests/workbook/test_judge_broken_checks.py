"""Checks that are lost, doubled, or return something else than a finding: named, and never worth a point."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.judging import edit, judge
from tests.helpers.toybook import make_toybook
from workbook.judge import cli
from workbook.judge.checklib import Result
from workbook.judge.grade import valid

CHECKS = "exercises/ch05_line/checks.py"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_toybook(tmp_path)
    cli.main(["--solution", "05.1", "--apply"], root)
    return root


def replace(root: Path, name: str, old: str, new: str) -> None:
    path = root / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("value", [0, 0.0, 1, 1.0, None, math.nan, True, False, "1", "ok", [], Result])
def test_nothing_but_a_finding_counts(value: Any) -> None:
    assert valid(value).verdict == "failed"
    assert valid(value).diagnosis == "check-is-broken"


def test_a_finding_must_make_sense() -> None:
    for result in (Result("passed"), Result("failed"), Result("ok", "slug"), Result("ok", "", None)):  # type: ignore[arg-type]
        assert valid(result).diagnosis == "check-is-broken"
    for result in (Result.ok(), Result.failed("a", "b"), Result.not_run("why"), Result("tie", "", "two")):
        assert valid(result) is result


@pytest.mark.parametrize("value", ["0", "0.0", "None", "float('nan')", "True", "'1'"])
def test_an_exercise_with_such_a_check_is_an_error(root: Path, value: str) -> None:
    replace(root, CHECKS, "    if taken + left != numbers:", f"    return {value}\n    if taken + left != numbers:")
    code, exercises = judge(root, "05.1")
    entry = exercises["05.1"]
    assert (code, entry["status"], entry["score"]) == (1, "error", 0)
    assert [c["verdict"] for c in entry["checks"]] == ["ok", "failed"]
    assert entry["checks"][1]["diagnosis"] == "check-is-broken"
    assert "no fault of yours" in entry["checks"][1]["message"]


def test_a_check_that_breaks_off_is_an_error_and_the_rest_goes_on(root: Path) -> None:
    replace(root, CHECKS, "    got = ask(", "    assert not rng\n    got = ask(")
    code, exercises = judge(root, "05.1")
    assert (code, exercises["05.1"]["status"]) == (1, "error")
    assert [c["verdict"] for c in exercises["05.1"]["checks"]] == ["failed", "ok"]


SUMS = '\n\ndef check_sums(ask, rng):\n    got = ask("total", {"numbers": [1, 2, 3]}, seconds=3)\n'
LOST = {
    "has no function for the check 'takes a prefix' of 05.1": (
        CHECKS,
        "def check_takes_a_prefix",
        "def takes_a_prefix",
    ),
    "no exercise lists the check of check_takes_the_prefix": (CHECKS, "def check_takes_a", "def check_takes_the"),
    "defines check_sums twice: only the second would run": (CHECKS, SUMS, "\n\ndef check_sums(a, b): pass\n" + SUMS),
    "no exercise lists the check of check_random_lines": ("exercises/ch05_line/spec.toml", ', "random lines"', ""),
    "is listed twice, or shares check_sums": ("exercises/ch05_line/spec.toml", '["sums"]', '["sums", "sums"]'),
    "'sums!' of 05.2": ("exercises/ch05_line/spec.toml", '["sums"]', '["sums", "sums!", "sums?"]'),
}


@pytest.mark.parametrize("words", LOST)
def test_a_lost_doubled_or_renamed_check_is_named(root: Path, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    replace(root, *LOST[words])
    assert cli.main([], root) == 1
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("name", ["checks.py", "probes.py", "spec.toml"])
def test_a_lost_file_is_named(root: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "exercises/ch05_line" / name).unlink()
    assert cli.main([], root) == 1
    assert f"exercises/ch05_line/{name} is missing" in capsys.readouterr().err


def test_a_name_that_is_bound_again_is_told(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = root / "work/exercises/ch05_line/line.py"
    path.write_text(path.read_text(encoding="utf-8") + "\n\nLine.take = lambda self, budget: []\n", encoding="utf-8")
    code, exercises = judge(root, "05.1")
    assert (code, exercises["05.1"]["status"]) == (1, "failed")
    assert "line 37 of work/exercises/ch05_line/line.py gives Line.take a new value" in capsys.readouterr().out
    edit(
        root,
        "Line.take = lambda self, budget: []",
        "def total(numbers):\n    return 0\n\n\ndef total(n):\n    return 1",
    )
    judge(root, "05.2")
    assert "defines total 3 times: the last one counts" in capsys.readouterr().out
