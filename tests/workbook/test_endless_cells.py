"""An endless cell costs its own notebook only: the kernel ends at the limit, and the next notebook runs."""

import os
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.helpers.toytree import HEAD, make_toytree, put
from workbook import steps
from workbook.builder.cli import main as build
from workbook.scratch import nbval_command, run_limited
from workbook.tree import ROOT

NOTE_PID = "import os\nfrom pathlib import Path\n\nPath({path!r}).write_text(str(os.getpid()))\n"
ENDLESS = {
    "plain": "while True:\n    pass",
    "deaf and loud": "while True:\n    try:\n        print(end='.')\n    except KeyboardInterrupt:\n        pass",
}


def notebook(path: Path, source: str, output: str = "") -> Path:
    v4: Any = nbformat.v4
    cell = v4.new_code_cell(source, execution_count=1)
    cell.outputs = [v4.new_output("stream", name="stdout", text=output)] if output else []
    path.parent.mkdir(parents=True, exist_ok=True)
    write: Any = nbformat.write
    write(v4.new_notebook(cells=[cell]), path)
    return path


def gone(pid_file: Path) -> bool:
    """Whether the process that wrote its number there ends within five seconds."""
    pid = int(pid_file.read_text(encoding="utf-8"))
    for _ in range(50):
        try:
            os.kill(pid, 0)
        except OSError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.slow
@pytest.mark.parametrize("loop", ENDLESS.values(), ids=ENDLESS)
def test_build_executes_the_next_notebook(
    tmp_path: Path, loop: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # where the kernel finds workbook
    root, pid = make_toytree(tmp_path / "tree"), tmp_path / "pid"
    cell = NOTE_PID.format(path=str(pid)) + loop
    put(root, "chapters/03_endless.md", HEAD.replace('"05"', '"03"') + f"\n```python\n{cell}\n```\n")
    put(root, "chapters/05_line.md", HEAD + "\n```python\nprint(5)\n```\n")
    assert build(["--execute", "--cell-timeout", "2"], root) == 1
    assert "03_endless.ipynb, cell 3 (import os): A cell timed out" in capsys.readouterr().err
    assert gone(pid)
    assert not (root / "chapters/03_endless.ipynb").exists()
    assert '"5\\n"' in (root / "chapters/05_line.ipynb").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("loop", ENDLESS.values(), ids=ENDLESS)
def test_nbval_goes_on_to_the_next_notebook(tmp_path: Path, loop: str) -> None:
    ini = (ROOT / "workbook/nbval.ini").read_text(encoding="utf-8")
    put(tmp_path, "workbook/nbval.ini", ini)
    pid = tmp_path / "pid"
    first = notebook(tmp_path / "chapters/01_endless.ipynb", NOTE_PID.format(path=str(pid)) + loop)
    second = notebook(tmp_path / "chapters/02_next.ipynb", "print(2)", "2\n")
    status, said = run_limited(nbval_command(tmp_path, [first, second], timeout=2), tmp_path, 60)
    assert status == 1
    assert "Timeout of 2 seconds" in said
    assert "1 failed, 1 passed" in said
    assert gone(pid)


@pytest.mark.slow
def test_nbval_fails_an_endless_cell_that_is_meant_to_raise(tmp_path: Path) -> None:
    put(tmp_path, "workbook/nbval.ini", (ROOT / "workbook/nbval.ini").read_text(encoding="utf-8"))
    path = notebook(tmp_path / "chapters/01_endless.ipynb", ENDLESS["plain"])
    text = path.read_text(encoding="utf-8")
    tagged = text.replace(
        '"metadata": {},\n   "outputs"',
        '"metadata": {"tags": ["raises-exception", "nbval-ignore-output"]},\n   "outputs"',
    )
    assert tagged != text
    path.write_text(tagged, encoding="utf-8")
    status, said = run_limited(nbval_command(tmp_path, [path], timeout=2), tmp_path, 60)
    assert (status, "Timeout of 2 seconds" in said) == (1, True), said


@pytest.mark.slow
def test_steps_check_goes_on_to_the_next_chapter(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root, pid = tmp_path / "root", tmp_path / "pid"
    put(root, "minisgl_lite/__init__.py", '"""E."""\n')
    put(root, "minisgl_lite/a.py", '"""A. Chapter 01."""\n')
    put(root, "minisgl_lite/b.py", '"""B. Chapter 02."""\n')
    put(root, "workbook/nbval.ini", (ROOT / "workbook/nbval.ini").read_text(encoding="utf-8"))
    notebook(root / "chapters/01_a.ipynb", NOTE_PID.format(path=str(pid)) + ENDLESS["plain"])
    notebook(root / "chapters/02_b.ipynb", "print(2)", "2\n")
    assert steps.main(["check", "--cell-timeout", "2"], root) == 1
    said = capfd.readouterr().out
    assert said.splitlines()[-1] == "failed: chapter 01 notebook"
    assert "chapter 02 notebook      ok" in said
    assert gone(pid)


def test_a_command_that_never_ends_is_ended_with_its_children(tmp_path: Path) -> None:
    child = "import os, time; open('child', 'w').write(str(os.getpid())); time.sleep(600)"
    parent = f"import subprocess, sys; print('begun', flush=True); subprocess.run([sys.executable, '-c', {child!r}])"
    status, said = run_limited([sys.executable, "-c", parent], tmp_path, 3)
    assert status == -1
    assert said.split("\n") == ["begun", "", "no end after 3 s"]
    assert gone(tmp_path / "child")


def test_what_a_command_leaves_behind_is_not_waited_for(tmp_path: Path) -> None:
    child = "import os, time; open('child', 'w').write(str(os.getpid())); time.sleep(600)"
    parent = (
        f"import os, subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}])\n"
        "while not os.path.exists('child') or not os.path.getsize('child'): time.sleep(0.05)\n"
        "print('done')"
    )
    assert run_limited([sys.executable, "-c", parent], tmp_path, 30) == (0, "done\n")
    assert gone(tmp_path / "child")
