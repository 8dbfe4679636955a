"""A class: each submission costs only itself, and the report does not depend on who is done first."""

from __future__ import annotations

import csv
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.judging import around
from tests.helpers.toychapters import make_toychapters
from workbook.judge import cli
from workbook.student import workplaces

linux = pytest.mark.skipif(sys.platform != "linux", reason="links, pipes and /proc")

RIGHT = {
    "smaller": "return min(a, b)",
    "larger": "return max(a, b)",
    "double": "return 2 * a",
    "serve": "return [min(numbers), max(numbers), 2 * numbers[0]]",
    "take": "return super().take(budget)",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "book"
    root.mkdir()
    make_toychapters(root)
    (tmp_path / "class").mkdir()
    return root


def hand_in(root: Path, name: str, base: str = "work/exercises", **bodies: str) -> Path:
    """A submission of chapters 03, 04 and 06: right but for the bodies given (function -> body, "" for blank)."""
    for place in workplaces(root):
        if place.exercise.chapter == 5:
            continue
        path = root.parent / "class" / name / base / place.exercise.file.removeprefix("work/exercises/")
        text = path.read_text(encoding="utf-8") if path.exists() else place.stub
        for function in place.exercise.bodies:
            blank = f'raise NotImplementedError("exercise {place.exercise.id}: write the body of {function}")'
            text = text.replace(blank, bodies.get(function, RIGHT[function]) or blank)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root.parent / "class" / name


def grade(root: Path, *args: str, names: tuple[str, ...] = ("4",)) -> tuple[int, dict[str, Any]]:
    """Exit code, and name -> submission."""
    out = root.parent / "class.json"
    code = cli.main([*names, "--class", str(root.parent / "class"), "--json", str(out), *args], root)
    report = json.loads(out.read_text(encoding="utf-8"))
    assert {one["max_score"] for one in report["submissions"]} == {report["max_score"]}
    return code, {one["name"]: one for one in report["submissions"]}


def statuses(one: dict[str, Any]) -> list[str]:
    return [entry["status"] for entry in one["exercises"]]


@pytest.mark.slow
def test_each_costs_only_itself(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = root.parent / "class"
    hand_in(root, "right")
    hand_in(root, "Other way", "exercises", smaller="return sorted([a, b])[0]")
    hand_in(root, "wrong", ".", smaller="return b")
    hand_in(root, "dies", "repo-main/work/exercises", double="import os; os._exit(0)")
    hand_in(root, "hangs", larger="while True: pass")
    hand_in(root, "half", larger="", serve="")
    (folder / "empty").mkdir()
    (folder / "file.zip").write_bytes(b"PK")
    (folder / ".DS_Store").write_bytes(b"")
    reports = ("--csv", str(root.parent / "class.csv"), "--gradescope", str(root.parent / "results"))
    code, got = grade(root, *reports, names=("3", "4", "6"))
    assert code == 1
    order = ["Other way", "dies", "empty", "file.zip", "half", "hangs", "right", "wrong"]
    assert list(got) == order
    assert {name: one["score"] for name, one in got.items()} == dict(zip(order, [4, 3, 0, 0, 2, 3, 4, 3], strict=True))
    assert statuses(got["dies"]) == ["passed", "passed", "error", "passed"]
    assert statuses(got["hangs"]) == ["passed", "timeout", "passed", "passed"]
    assert statuses(got["half"]) == ["passed", "not attempted", "passed", "not attempted"]
    assert statuses(got["empty"]) == ["not attempted"] * 4
    assert got["empty"]["notes"] == ["no exercise file found (such as work/exercises/ch03_pair/pair.py)"]
    assert got["file.zip"]["fault"] == "is a file, not a folder (an archive must be unpacked first)"
    assert statuses(got["file.zip"]) == ["error"] * 4
    assert not (folder / "right/work/progress.json").exists()
    rows = list(csv.reader((root.parent / "class.csv").open(encoding="utf-8", newline="")))
    assert rows[0] == ["submission", "points", "max_points", "03.1", "03.2", "04.1", "06.1", "fault", "notes"]
    assert [row[:3] for row in rows[1:3]] == [["Other way", "4", "4"], ["dies", "3", "4"]]
    results = json.loads((root.parent / "results/half.json").read_text(encoding="utf-8"))
    assert (results["score"], len(results["tests"])) == (2, 4)
    said = capsys.readouterr()
    assert "[8/8] wrong: 3 of 4 points, 1 failed" in said.err
    assert "passed, of 8 submissions: 03.1 5, 03.2 4, 04.1 5, 06.1 5" in said.out


@linux
def test_what_cannot_be_read_is_named(root: Path) -> None:
    folder = root.parent / "class"
    right = hand_in(root, "right")
    inside = "work/exercises/ch04_double/double.py"
    for name in ("bytes", "copies", "far", "folder", "huge", "pipe"):
        path = hand_in(root, name) / inside
        path.unlink()
        if name == "bytes":
            path.write_bytes(b"x = '\xff'\n")
        elif name == "folder":
            path.mkdir()
        elif name == "huge":
            path.write_text("#" * 1_000_001, encoding="utf-8")
        elif name == "pipe":
            os.mkfifo(path)
        elif name == "copies":
            path.symlink_to(right / inside)
        elif name == "far":
            path.parent.rmdir()
            path.parent.write_text("a file", encoding="utf-8")
    (folder / "link").symlink_to(right)
    _, got = grade(root)
    assert got.pop("right")["score"] == 1
    assert got.pop("link")["fault"] == "is a link; a submission is a folder of its own"
    words = {
        "bytes": "is not UTF-8: byte 5 is 0xff",
        "copies": "is a link that leads out of the submission",
        "far": "work/exercises/ch04_double is no folder",
        "folder": "is not a file",
        "huge": "is larger than 1000000 bytes",
        "pipe": "is not a file",
    }
    assert list(got) == list(words)
    for name, one in got.items():
        assert (one["score"], statuses(one)) == (0, ["error"]), name
        assert words[name] in one["exercises"][0]["checks"][0]["message"]


@linux
def test_a_judge_that_is_killed_or_stopped_costs_one_exercise(root: Path) -> None:
    shell = around("import os, subprocess; subprocess.run(['kill', '-{}', str(os.getppid())])") + "; return 4"
    hand_in(root, "kills", double=shell.replace("-{}", "-KILL"))
    hand_in(root, "signals", double="import os; os.kill(os.getppid(), 9); return 4")
    forged = f"{'0' * 64} {json.dumps({'id': '04.1', 'status': 'passed', 'checks': []})}"
    hand_in(root, "writes", double=f"import os; open(f'/proc/{{os.getppid()}}/fd/1', 'w').write({forged!r}); return 5")
    hand_in(root, "zzz")
    _, got = grade(root, names=("3", "4"))
    assert [one["score"] for one in got.values()] == [2, 2, 2, 3]
    seen = [one["exercises"][2]["checks"][0]["diagnosis"] for one in got.values()]
    assert seen == ["judge-killed", "reached-outside", "reached-outside", ""]


@pytest.mark.slow
@linux
def test_files_of_the_workbook_are_put_back_and_cost_who_changed_them(root: Path) -> None:
    probes = root / "exercises/ch04_double/probes.py"
    before = probes.read_bytes()
    new = root / "exercises/ch04_double/extra.py"
    code = (
        around(f"import subprocess; subprocess.run(['sh', '-c', 'echo >> {probes}; echo > {new}'])") + "; return 2 * a"
    )
    hand_in(root, "culprit", double=code)
    hand_in(root, "neighbour")
    theirs = hand_in(root, "victim") / "work/exercises/ch04_double/double.py"
    kept = theirs.read_bytes()
    hand_in(root, "vandal", double=around(f"import subprocess; subprocess.run(['rm', '{theirs}'])") + "; return 2 * a")
    _, got = grade(root)
    assert {name: one["score"] for name, one in got.items()} == {"culprit": 0, "neighbour": 1, "vandal": 0, "victim": 1}
    changed = "changed files of the workbook while it was graded: exercises/ch04_double/extra.py, exercises/ch04_double"
    assert got["culprit"]["fault"].startswith(changed)
    assert (probes.read_bytes(), new.exists(), theirs.read_bytes()) == (before, False, kept)


@linux
def test_other_submissions_cannot_be_read(root: Path) -> None:
    right = hand_in(root, "a") / "work/exercises/ch04_double/double.py"
    hand_in(root, "b", double=f"exec(open({str(right)!r}).read(), g := {{}}); return g['double'](a)")
    hand_in(root, "c", double=f"import os; os.listdir({str(root.parent / 'class')!r}); return 2 * a")
    _, got = grade(root)
    for name in "bc":
        check = got[name]["exercises"][0]["checks"][0]
        assert (got[name]["score"], check["diagnosis"]) == (0, "reached-outside")


@pytest.mark.slow
def test_bytes_of_the_report_are_stable(root: Path) -> None:
    hand_in(root, "slow", double="import time; time.sleep(1); return object()")
    hand_in(root, "quick", double="raise ValueError(object())")
    hand_in(root, "third", double="import os; raise ValueError(os.getcwd())")
    outs = []
    for _ in range(3):
        code, _ = grade(root)
        outs.append((root.parent / "class.json").read_bytes())
    assert code == 1
    assert outs[0] == outs[1] == outs[2]
    assert b"seconds" not in outs[0]


def test_an_old_copy_of_the_checks_is_named_and_not_used(root: Path) -> None:
    theirs = hand_in(root, "repo") / "exercises/ch04_double"
    theirs.mkdir(parents=True)
    (theirs / "spec.toml").write_bytes((root / "exercises/ch04_double/spec.toml").read_bytes())
    (theirs / "checks.py").write_text("def check_double_is_right(ask, rng): return 1\n", encoding="utf-8")
    _, got = grade(root)
    assert got["repo"]["score"] == 1
    assert [note.rpartition(": ")[2] for note in got["repo"]["notes"]] == [
        "exercises/ch04_double/checks.py is different",
        "exercises/ch04_double/probes.py is missing",
    ]


def test_usage(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = root.parent / "class"
    for args, words in (
        (["--class", str(folder)], "there is nothing in it"),
        (["--class", str(root / "nowhere")], "No such file"),
        (["--class", str(root / "toy/line.py")], "Not a directory"),
        (["--class", str(folder), "--gradescope", "-"], "takes a folder"),
    ):
        with pytest.raises(SystemExit) as caught:
            cli.main(args, root)
        assert caught.value.code == 2
        assert words in capsys.readouterr().err
    hand_in(root, "a")
    with pytest.raises(SystemExit):
        cli.main(["--class", str(folder), "--json", str(root / "no/where.json")], root)
    assert "cannot write" in capsys.readouterr().err
    assert cli.main(["3", "--class", str(folder), "--csv", "-"], root) == 0
    assert capsys.readouterr().out.splitlines()[1] == "a,2,2,passed,passed,,"


@linux
def test_names_never_coincide(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = root.parent / "class"
    for name in (b"a\xff", b"a\\xff", b"a\n", b"=1+1", "é".encode(), "e\u0301".encode()):
        os.mkdir(os.path.join(os.fsencode(folder), name))
    _, got = grade(root, "--csv", str(root.parent / "class.csv"))
    assert list(got) == ["=1+1", "a\\n", "a\\xff", "a\\xff'", "e\u0301", "é"]
    assert {one["exercises"][0]["status"] for one in got.values()} == {"not attempted"}
    assert (root.parent / "class.csv").read_text(encoding="utf-8").splitlines()[1].startswith("'=1+1,0,1")


def test_what_a_submission_says_does_not_move_the_cursor(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hand_in(root, "fake", double="raise ValueError('\\x1b[2J\\r04.1 passed\\nfake  1/1')")
    grade(root)
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "\nfake" not in said.partition("\nfake")[2].partition("passed, of")[0]
    assert "\\x1b[2J 04.1 passed fake 1/1" in said
