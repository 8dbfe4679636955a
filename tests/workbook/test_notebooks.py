"""The gate: nothing derived differs, no stored output is stale, and every notebook runs again to the same outputs."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from workbook.builder.cli import main
from workbook.scratch import copy_repository, nbval_command, run_limited
from workbook.tree import ROOT

NOTEBOOKS = sorted((ROOT / "chapters").glob("[0-9][0-9]_*.ipynb"))


def read(path: Path) -> Any:
    reader: Any = nbformat.read
    return reader(path, as_version=4)


def test_derived_files_are_as_they_should_be(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["--check"])
    assert status == 0, capsys.readouterr().out


def prints(source: str) -> bool:
    """Whether a cell calls print outside of functions, which would have to leave an output."""

    def calls(node: ast.AST) -> Iterator[ast.AST]:
        for inner in ast.iter_child_nodes(node):
            if not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
                yield inner
                yield from calls(inner)

    return any(isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "print" for n in calls(ast.parse(source)))  # fmt: skip # noqa: E501


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_code_cell_was_executed(path: Path) -> None:
    code = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    for cell in code:
        if cell.source.startswith("%%test") or (not cell.source.startswith("%") and prints(cell.source)):
            assert cell.outputs, f"no output is stored: {cell.source[:80]}"
        if cell.source.startswith("%%edit"):
            assert not cell.outputs, f"the quote is not what is in the package: {cell.source[:80]}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_figures_are_seen_in_a_notebook_that_is_not_trusted(path: Path) -> None:
    """There, JupyterLab leaves out SVG and the scripts in HTML."""
    for cell in read(path).cells:
        for data in (output.get("data", {}) for output in cell.get("outputs", [])):
            assert "image/svg+xml" not in data or "image/png" in data, cell.source[:80]
            assert "<script" not in data.get("text/html", "") or "<img " in data["text/html"], cell.source[:80]


def nbval(tree: Path, notebooks: list[Path], timeout: int = 300) -> subprocess.CompletedProcess[str]:
    command = nbval_command(tree, notebooks, timeout)
    status, said = run_limited(command, tree, 900)
    return subprocess.CompletedProcess(command, status, said)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_again_to_the_same_outputs(path: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    copy_repository(ROOT, tree)
    done = nbval(tree, [tree / "chapters" / path.name])
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "workbook").mkdir()
    for name in ("__init__.py", "nbval.ini", "nbval_limit.py"):
        text = (ROOT / "workbook" / name).read_text(encoding="utf-8")
        (tmp_path / "workbook" / name).write_text(text, encoding="utf-8")
    return tmp_path


def write(path: Path, source: str, output: str, tags: tuple[str, ...] = ()) -> Path:
    v4: Any = nbformat.v4
    cell = v4.new_code_cell(source, execution_count=1, metadata={"tags": list(tags)})
    cell.outputs = [v4.new_output("stream", name="stdout", text=output)]
    writer: Any = nbformat.write
    writer(v4.new_notebook(cells=[cell]), path)
    return path


@pytest.mark.slow
def test_the_gate_sees_a_changed_output_and_nothing_else(tree: Path) -> None:
    same = write(tree / "same.ipynb", "print(1, object(), '12.3 ms')", "1 <object object at 0x7fffffff0> 12.3 ms\n")
    measured = write(tree / "measured.ipynb", "print(1)", "2\n", ("nbval-ignore-output",))
    assert nbval(tree, [same, measured]).returncode == 0
    other = write(tree / "other.ipynb", "print(1)", "2\n")
    # seconds on a virtual clock are results like any other; measured ones have a tag
    later = write(tree / "later.ipynb", "print('12.3 ms')", "9 ms\n")
    done = nbval(tree, [other, later])
    assert done.returncode == 1
    assert re.findall(r"^FAILED (\w+)", done.stdout, re.MULTILINE) == ["other", "later"]


@pytest.mark.slow
def test_an_endless_cell_is_stopped(tree: Path) -> None:
    done = nbval(tree, [write(tree / "endless.ipynb", "while True: pass", "")], timeout=3)
    assert done.returncode == 1
    assert "imeout" in done.stdout
