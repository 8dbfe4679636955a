"""What docs/teachers.md shows works as it stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from workbook import scaffold
from workbook.judge import cli
from workbook.scratch import copy_repository
from workbook.tree import ROOT

TEXT = (ROOT / "docs/teachers.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', TEXT, re.DOTALL))
CHAPTER = "exercises/ch05_scheduler"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("teachers") / "book"
    copy_repository(ROOT, root)
    return root


def command(start: str) -> list[str]:
    """The arguments of the command in the text that begins so; without the program and a comment."""
    line = next(line for line in TEXT.splitlines() if line.startswith(start))
    return shlex.split(line.removeprefix(start), comments=True)


@pytest.mark.slow
def test_hidden_checks(root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FILES.items():
        if name.startswith("hidden/"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(root)
    arguments = command("python judge.py 05 --reference")
    assert cli.main(["05.1", "--reference", *arguments], root) == 0, capsys.readouterr().out


@pytest.mark.slow
def test_an_exercise(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert scaffold.main(command("python -m workbook new-exercise"), root) == 0
    spec = root / CHAPTER / "spec.toml"
    filled = spec.read_text(encoding="utf-8").replace(
        'checks = ["TODO first behaviour"]', 'checks = ["rows come back"]'
    )
    spec.write_text(filled, encoding="utf-8")
    for name, text in FILES.items():
        path = root / CHAPTER / name
        if name == "probes.py":
            before = path.read_text(encoding="utf-8")
            path.write_text(before[: before.index("\n\ndef probe_ex4(")] + "\n\n" + text, encoding="utf-8")
        elif name.startswith(("checks/", "variants/")):
            path.write_text(text, encoding="utf-8")
    assert cli.main(["05.4", "--reference"], root) == 0
    assert cli.main(["05.4", "--mutants"], root) == 0
    assert "3 of 3 variants graded as they should be" in capsys.readouterr().out


def test_the_workflow_is_valid_and_grades_with_the_courses_checks() -> None:
    workflow = yaml.safe_load((ROOT / "tools/github-classroom.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["grade"]["steps"]
    assert [step.get("with", {}).get("path") for step in steps[:2]] == [
        "class/${{ github.event.repository.name }}",
        "course",
    ]
    grades = next(step for step in steps if step.get("name") == "Grade")
    assert grades["working-directory"] == "course"
    arguments = shlex.split(grades["run"])[2:]
    assert cli.parser().parse_args(arguments).class_ == "../class"


def test_commands_of_the_text_are_options_of_the_judge() -> None:
    found = [shlex.split(line, comments=True)[2:] for line in TEXT.splitlines() if line.startswith("python judge.py")]
    assert len(found) >= 6
    for arguments in found:
        args = cli.parser().parse_args(arguments)
        cli.check(cli.parser(), args)
