"""Every command ends with another status than 0 when a part of it fails, also behind a pipe."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from workbook import demo, lab
from workbook.__main__ import main as workbook
from workbook.tree import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None or shutil.which("bash") is None, reason="needs make, bash")
# an interpreter that notes what it is asked for, and fails at the call that FAIL_AT names
FAKE = """#!/bin/sh
echo "$*" >> calls
[ "$(wc -l < calls | tr -d ' ')" = "$FAIL_AT" ] && exit 7
exit 0
"""
TARGETS = ("check", "test", "demo", "lab", "site", "site-serve")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The Makefile and the CI script, with an environment that is installed already."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt", ".ci/run"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    python = tmp_path / ".venv/bin/python"
    python.write_text(FAKE, encoding="utf-8")
    python.chmod(0o755)
    (tmp_path / ".venv/.installed").touch()
    return tmp_path


def run(tree: Path, command: str, fail_at: int) -> tuple[int, list[str]]:
    """(status, what the interpreter was asked for) of a shell command, with pipes that hide nothing."""
    (tree / "calls").unlink(missing_ok=True)
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=tree,
        env=variables | {"FAIL_AT": str(fail_at)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
    )
    return done.returncode, (tree / "calls").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("command", [*(f"make {target}" for target in TARGETS), "bash .ci/run"])
def test_the_first_failure_ends_a_command(tree: Path, command: str) -> None:
    status, calls = run(tree, command, 0)
    assert status == 0
    for number, call in enumerate(calls, 1):
        if "--collect-only" in call:  # only counts what is not run, for a line of text
            continue
        for line in (command, f"{command} 2>&1 | tee log"):
            status, made = run(tree, line, number)
            assert status != 0, f"{line}: `python {call}` failed"
            assert made == calls[:number], "and nothing ran after it"


def test_an_installation_that_fails_is_not_taken_for_done(tree: Path) -> None:
    (tree / ".venv/.installed").unlink()
    for _ in range(2):
        status, calls = run(tree, "make check", 1)
        assert status != 0
        assert len(calls) == 1
        assert "pip install" in calls[0]
    assert not (tree / ".venv/.installed").exists()


@pytest.mark.parametrize("status", [1, 3, -9])
def test_the_demo_fails_with_the_judge(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "compare", lambda *_: 0)
    done = subprocess.CompletedProcess([], status)
    monkeypatch.setattr(demo.subprocess, "run", lambda *_, **__: done)
    assert demo.main() != 0


def test_the_demo_fails_with_a_different_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "compare", lambda *_: 1)
    monkeypatch.setattr(demo.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0))
    assert demo.main() == 1


@pytest.mark.parametrize("command", [["site"], ["site", "--serve"], ["lab"]])
@pytest.mark.parametrize("status", [1, -9])
def test_a_command_passes_on_the_status_of_its_program(
    command: list[str], status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work/chapters").mkdir(parents=True)
    (tmp_path / "work/chapters/01_a.ipynb").touch()
    monkeypatch.setattr(lab.main, "__defaults__", (None, tmp_path))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], status))
    assert workbook(command) == status
