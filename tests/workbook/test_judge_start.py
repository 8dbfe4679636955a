from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
JUDGE = ROOT / "judge.py"


def copied(folder: Path) -> None:
    """What is needed to find the project's environment, in a folder of its own."""
    shutil.copy(JUDGE, folder)
    (folder / "workbook").mkdir()
    for name in ("__init__", "__main__", "reenter"):
        shutil.copy(ROOT / f"workbook/{name}.py", folder / "workbook")


def test_without_an_environment_it_says_what_to_do(tmp_path: Path) -> None:
    copied(tmp_path)
    for bare in (["-I", "-S", "judge.py"], ["-S", "-m", "workbook", "build"]):
        run = subprocess.run([sys.executable, *bare], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert run.returncode == 3
        assert "make setup" in run.stderr


@pytest.mark.skipif(os.name == "nt", reason="the stand-in interpreter is a shell script")
def test_another_interpreter_hands_over_to_the_projects(tmp_path: Path) -> None:
    copied(tmp_path)
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "here: $@"\nexit 7\n', encoding="utf-8")
    python.chmod(0o755)
    for command, told in (("judge.py", f"{tmp_path / 'judge.py'} 05"), ("-m workbook", "-m workbook 05")):
        arguments = [sys.executable, *command.split(), "05", "--seed", "3"]
        environment = {**os.environ, "PYTHONPATH": ""}
        run = subprocess.run(arguments, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert (run.returncode, run.stdout) == (7, f"here: {told} --seed 3\n")


def test_help_runs_as_a_script() -> None:
    run = subprocess.run([sys.executable, str(JUDGE), "--help"], capture_output=True, text=True, check=False)
    assert run.returncode == 0
    assert "--mutants" in run.stdout


@pytest.mark.skipif(os.name == "nt", reason="a pipe without a reader is told in another way there")
def test_a_reader_that_goes_away_is_no_error() -> None:
    command = [sys.executable, str(JUDGE), "--progress"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        run.stdout.close()
        assert run.stderr.read() == ""
    assert run.returncode == 1
