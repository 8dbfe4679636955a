"""Executing and comparing again gives the same bytes and the same verdict, however the output came in pieces."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.helpers.toytree import HEAD, make_toytree, put
from workbook.builder.cli import main as build
from workbook.scratch import nbval_command, run_limited
from workbook.tree import ROOT

RUNS = 5
FIRST = "import sys\nimport time\nimport warnings\n\nprint('the first cell says something')\n"
MANY = """
def show(message, *_):
    print(message, file=sys.stderr)


warnings.showwarning = show
for i in range(200):
    print("line", i, flush=i % 7 == 0)
    if i % 40 == 39:
        warnings.warn(f"at {i}", stacklevel=1)
        time.sleep(0.02)
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # where the kernel finds workbook
    root = make_toytree(tmp_path / "tree")
    put(root, "chapters/05_line.md", f"{HEAD}\n```python\n{FIRST}```\n\n```python\n{MANY}```\n")
    put(root, "workbook/nbval.ini", (ROOT / "workbook/nbval.ini").read_text(encoding="utf-8"))
    return root


@pytest.mark.slow
def test_many_lines_and_a_warning_five_times(root: Path) -> None:
    built = set()
    for _ in range(RUNS):
        assert build(["--execute", "--force"], root) == 0
        built.add((root / "chapters/05_line.ipynb").read_bytes())
    assert len(built) == 1
    copies = [root / f"chapters/copy{i}.ipynb" for i in range(2 * RUNS)]
    for i, copy in enumerate(copies):  # every other one with an output that is not what the cell prints
        (text,) = built
        copy.write_bytes(text if i % 2 == 0 else text.replace(b"line 117", b"line 711"))
    status, said = run_limited(nbval_command(root, copies), root, 300)
    assert status == 1
    assert re.findall(r"^FAILED chapters/copy(\d)\.ipynb::Cell (\d)", said, re.M) == [
        (str(i), "2") for i in range(1, 2 * RUNS, 2)
    ]
    assert f"{RUNS} failed, {5 * RUNS} passed" in said


@pytest.mark.slow
def test_the_first_cells_output_counts(root: Path) -> None:
    assert build(["--execute"], root) == 0
    read, write = nbformat.read, nbformat.write
    notebook: Any = read(root / "chapters/05_line.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code[1].outputs[0].text == "the first cell says something\n"
    code[0].source = code[1].source  # now it is the first of all
    notebook.cells = [code[0]]
    notebook.cells[0].outputs = []
    write(notebook, root / "chapters/first.ipynb")  # type: ignore[no-untyped-call]
    status, said = run_limited(nbval_command(root, [root / "chapters/first.ipynb"]), root, 60)
    assert (status, "Cell 0" in said) == (1, True), said


@pytest.mark.slow
def test_a_warning_that_names_the_kernels_file_is_refused(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    warn = "import warnings\n\nwarnings.warn('careful', stacklevel=1)\n"
    put(root, "chapters/05_line.md", f"{HEAD}\n```python\n{warn}```\n")
    assert build(["--execute"], root) == 1
    assert "cell 3: its output names a path of this machine" in capsys.readouterr().err
