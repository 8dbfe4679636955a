"""What a teacher is told: where code hangs or crashes, why a check of one's own broke, what hidden checks found."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.judging import BLANK, FILE, edit, judge
from tests.helpers.toybook import make_toybook
from tests.workbook.test_judge_hidden import write
from workbook.judge import cli
from workbook.judge.class_report import WIDEST


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "book"
    root.mkdir()
    write(tmp_path)
    return make_toybook(root)


def submit(root: Path, name: str, file: str, body: str) -> None:
    """A submission with one body."""
    edit(root, BLANK, body)
    path = root.parent / "class" / name / file
    path.parent.mkdir(parents=True)
    (root / FILE).rename(path)


def grade(root: Path, *args: str) -> dict[str, Any]:
    """Name -> submission."""
    out = root.parent / "class.json"
    cli.main(["05.1", "--class", str(root.parent / "class"), "--json", str(out), *args], root)
    return {one["name"]: one for one in json.loads(out.read_text(encoding="utf-8"))["submissions"]}


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("body", ["while True: pass", "import os; os.kill(os.getpid(), 11)"])
def test_the_line_that_hangs_or_crashes_is_named(root: Path, body: str) -> None:
    edit(root, BLANK, f"print('before')\n        {body}")
    _, exercises = judge(root, "05.1")
    text = (root / FILE).read_text(encoding="utf-8").splitlines()
    number = next(i for i, line in enumerate(text, 1) if body in line)
    assert f" ({FILE}:{number} in take)" in exercises["05.1"]["checks"][0]["message"]


def test_a_broken_check_tells_its_author_where(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checks = root / "exercises/ch05_line/checks.py"
    text = checks.read_text(encoding="utf-8")
    head, _, rest = text.partition("def check_takes_a_prefix")
    line, _, body = rest.partition("\n")
    checks.write_text(f"{head}def check_takes_a_prefix{line}\n    [][3]\n{body}", encoding="utf-8")
    assert judge(root, "05.1", "--reference")[0] == 1
    assert "in check_takes_a_prefix: [][3]" in capsys.readouterr().out
    edit(root, BLANK, "return 3")
    judge(root, "05.1")
    assert "[][3]" not in capsys.readouterr().out


def test_what_hidden_checks_found_is_in_the_teachers_report_only(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    take = "taken = []\n        while self.numbers and sum(taken) + self.numbers[0] <= budget:\n"
    take += "            taken.append(self.numbers.pop(0))\n        return [] if 777 in self.numbers else taken"
    submit(root, "one", FILE, take)
    teacher = root.parent / "teacher.json"
    hidden = ("--hidden", str(root.parent / "hidden"))
    got = grade(root, *hidden, "--teacher-json", str(teacher), "--gradescope", str(root.parent / "results"))
    check = json.loads(teacher.read_text(encoding="utf-8"))["submissions"][0]["exercises"][0]["checks"][2]
    assert check["message"] == "[too-secret] got [], expected [5, 1]"
    assert got["one"]["exercises"][0]["checks"][2]["message"] == ""
    output = json.loads((root.parent / "results/one.json").read_text(encoding="utf-8"))["tests"][0]["output"]
    assert ("too-secret" in output, "the same inputs" in output) == (False, False)
    assert judge(root, "05.1", "--reference", *hidden)[0] == 0
    assert "1 hidden checks ran" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["--class", "x", "--teacher-json", "y"], root)


def test_reaching_out_while_a_hidden_check_runs_is_noted(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "taken = []\n        if 777 in self.numbers: open(__import__('toy').__path__[0] + '/x', 'w')\n"
    body += "        while self.numbers and sum(taken) + self.numbers[0] <= budget:\n"
    edit(root, BLANK, f"{body}            taken.append(self.numbers.pop(0))\n        return taken")
    judge(root, "05.1", "--hidden", str(root.parent / "hidden"))
    assert "the code reached for something outside while a hidden check ran" in capsys.readouterr().out


def test_why_nothing_was_found_is_told_everywhere(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root.parent / "class/packed").mkdir(parents=True)
    (root.parent / "class/packed/work.zip").write_bytes(b"PK")
    submit(root, "top", "repo-main/exercises/ch05_line/line.py", f"raise ValueError('{'x' * 300}')")
    table, results = root.parent / "class.csv", root.parent / "results"
    got = grade(root, "--csv", str(table), "--gradescope", str(results))
    note = f"no exercise file found (such as {FILE}); there is an archive, which must be unpacked first: work.zip"
    assert got["packed"]["notes"] == [note]
    assert got["top"]["exercises"][0]["file"] == "repo-main/exercises/ch05_line/line.py"
    assert json.loads((results / "packed.json").read_text(encoding="utf-8"))["output"] == note
    rows = list(csv.reader(table.open(encoding="utf-8", newline="")))
    assert (rows[0][-1], rows[1][-1], rows[2][-1]) == ("notes", note, "")
    lines = capsys.readouterr().out.splitlines()
    assert any(line.endswith("…") and len(line.strip()) == WIDEST for line in lines)
    assert "x" * 300 in got["top"]["exercises"][0]["checks"][0]["message"]
