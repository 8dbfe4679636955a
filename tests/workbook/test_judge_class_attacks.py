"""A submission against the judge and against its neighbours: it costs itself only."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.judging import around
from tests.helpers.toychapters import make_toychapters
from tests.workbook.test_judge_class import grade, hand_in
from workbook.judge import classroom, oracles
from workbook.judge.checklib import OracleMissing
from workbook.judge.overseer import KILLED, grade_submission
from workbook.judge.verdicts import CheckReport, Report

linux = pytest.mark.skipif(sys.platform != "linux", reason="a shell, and /proc")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "book"
    root.mkdir()
    make_toychapters(root)
    (tmp_path / "class").mkdir()
    return root


@linux
def test_bytes_that_were_put_back_are_noticed(root: Path) -> None:
    checks = root / "exercises/ch04_double/checks.py"
    before = checks.read_bytes()
    shell = f"cp -p {checks} kept; echo >> {checks}; cp -p kept {checks}"
    hand_in(
        root, "hides", double=around(f"import subprocess; subprocess.run(['sh', '-c', {shell!r}])") + "; return 2 * a"
    )
    _, got = grade(root)
    assert got["hides"]["fault"].endswith("exercises/ch04_double/checks.py")
    assert checks.read_bytes() == before


@linux
@pytest.mark.slow
def test_checks_that_were_changed_are_not_those_of_the_next_worker(root: Path) -> None:
    checks = next(root.glob("exercises/ch06_*")) / "checks.py"
    shell = f"echo 'raise SystemExit' >> {checks}; kill -9 $JUDGE"
    run = f"import os, subprocess; subprocess.run(['sh', '-c', {shell!r}], env={{'JUDGE': str(os.getppid())}})"
    kill = around(run)
    hand_in(root, "changes", double=f"{kill}; return 4")
    hand_in(root, "neighbour")
    _, got = grade(root, names=("4", "6"))
    assert {name: one["score"] for name, one in got.items()} == {"changes": 0, "neighbour": 2}
    assert got["changes"]["fault"].startswith("changed files of the workbook")


def test_whose_judge_was_killed_is_graded_once_more_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def killed_once(*args: Any) -> list[Report]:
        calls.append(1)
        if len(calls) > 1:
            return grade_submission(*args)
        return [Report(e, "error", 0.0, (CheckReport("load", "failed", KILLED, "killed"),)) for e in args[1]]

    monkeypatch.setattr(classroom, "grade_submission", killed_once)
    hand_in(root, "victim")
    _, got = grade(root)
    assert (got["victim"]["score"], len(calls)) == (1, 2)


def test_an_earlier_report_is_gone_before_anything_is_graded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = root.parent / "class.json"
    out.write_text("{}", encoding="utf-8")
    there: list[bool] = []
    monkeypatch.setattr(classroom, "grade_submission", lambda *_: there.append(out.exists()) or [])
    hand_in(root, "one")
    grade(root)
    assert there == [False]


def test_the_live_tokens_are_handed_to_the_worker() -> None:
    runs = oracles.unpacked(oracles.packed(oracles.recorded))()
    assert [(r.ids, r.output_ids, r.gaps) for r in runs] == [(r.ids, r.output_ids, r.gaps) for r in oracles.recorded()]
    with pytest.raises(OracleMissing, match="not there"):
        oracles.unpacked({"missing": "not there"})()
