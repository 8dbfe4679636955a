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
from workbook.spec import load_exercises
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
    taken = [exercise.id for exercise in load_exercises(root)]
    number = next(n for n in range(4, 99) if f"05.{n}" not in taken)  # the text's, as long as that is free
    id_, probe = f"05.{number}", f"ex{number}"
    arguments = command("python -m workbook new-exercise")
    assert scaffold.main([id_, *arguments[1:]], root) == 0
    spec = root / CHAPTER / "spec.toml"
    filled = spec.read_text(encoding="utf-8").replace(
        'checks = ["TODO first behaviour"]', 'checks = ["rows come back"]'
    )
    spec.write_text(filled, encoding="utf-8")
    for name, text in FILES.items():
        name, text = (part.replace("05.4", id_).replace("ex4", probe) for part in (name, text))
        path = root / CHAPTER / name
        if name == "probes.py":
            before = path.read_text(encoding="utf-8")
            path.write_text(before[: before.index(f"\n\ndef probe_{probe}(")] + "\n\n" + text, encoding="utf-8")
        elif name.startswith(("checks/", "variants/")):
            path.write_text(text, encoding="utf-8")
    assert cli.main([id_, "--reference"], root) == 0
    assert cli.main([id_, "--mutants"], root) == 0
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
