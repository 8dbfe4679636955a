"""A fingerprint names what changed, and nothing else moves it."""

from pathlib import Path
from typing import Any

import nbformat
import pytest

from workbook.fingerprint import CHECKPOINT, RECORDED, changes, take

MODULES = ["minisgl_lite", "minisgl_lite.core", "minisgl_lite.gone", "workbook.widgets"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("minisgl_lite", "workbook/widgets", CHECKPOINT):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    (tmp_path / "minisgl_lite/__init__.py").write_text('"""One."""\n', encoding="utf-8")
    (tmp_path / "minisgl_lite/core.py").write_text('"""Core."""\nA = 1\n', encoding="utf-8")
    (tmp_path / "workbook/widgets/__init__.py").write_text('"""W."""\n', encoding="utf-8")
    (tmp_path / "workbook/widgets/look.css").write_text("a {}\n", encoding="utf-8")
    (tmp_path / CHECKPOINT / "config.json").write_text("{}\n", encoding="utf-8")
    (tmp_path / CHECKPOINT / "oracle.json").write_text("{}\n", encoding="utf-8")
    (tmp_path / CHECKPOINT / "model.safetensors").write_bytes(b"\r\n\0")
    return tmp_path


@pytest.fixture
def notebook(root: Path) -> Any:
    v4: Any = nbformat.v4
    made = v4.new_notebook(cells=[v4.new_markdown_cell("text"), v4.new_code_cell("1 + 1")])
    made.metadata["minisgl_lite"] = {"fingerprint": take(made, root, MODULES)}
    return made


def test_only_modules_of_the_repository_are_listed(notebook: Any) -> None:
    listed = notebook.metadata["minisgl_lite"]["fingerprint"]["modules"]
    assert list(listed) == ["minisgl_lite", "minisgl_lite.core", "workbook.widgets"]


def test_what_does_not_matter(notebook: Any, root: Path) -> None:
    notebook.cells[0].source = "other prose"
    notebook.cells[1].outputs = []
    (root / "minisgl_lite/core.py").write_bytes(b'"""Core."""\r\nA = 1\r\n')
    (root / "minisgl_lite/other.py").write_text('"""Never imported."""\n', encoding="utf-8")
    (root / CHECKPOINT / "oracle.json").write_text("[]\n", encoding="utf-8")
    assert changes(notebook, root) == []


def test_each_cause_is_named(notebook: Any, root: Path) -> None:
    notebook.cells[1].source = "1 + 2"
    assert changes(notebook, root) == ["its cells"]
    notebook.cells[1].source = "1 + 1"
    (root / "minisgl_lite/core.py").write_text('"""Core."""\nA = 2\n', encoding="utf-8")
    assert changes(notebook, root) == ["minisgl_lite.core"]
    (root / "minisgl_lite/core.py").unlink()
    (root / "workbook/widgets/look.css").write_text("b {}\n", encoding="utf-8")
    assert changes(notebook, root) == ["minisgl_lite.core", "workbook.widgets"]
    (root / CHECKPOINT / "model.safetensors").write_bytes(b"\n\0")
    assert changes(notebook, root)[0] == "the checkpoint"


def test_a_tag_counts_as_part_of_a_cell(notebook: Any, root: Path) -> None:
    notebook.cells[1].metadata["tags"] = ["measured"]
    assert changes(notebook, root) == ["its cells"]


def test_a_recorded_run_counts_where_a_cell_reads_one(notebook: Any, root: Path) -> None:
    run = root / RECORDED / "run.json"
    run.parent.mkdir(parents=True)
    run.write_text('{"ms": 1}\n', encoding="utf-8")
    assert changes(notebook, root) == []
    notebook.cells[1].source = 'json.loads((ROOT / "benchmarks" / "recorded" / "run.json").read_text())'
    notebook.metadata["minisgl_lite"] = {"fingerprint": take(notebook, root, MODULES)}
    run.write_bytes(b'{"ms": 1}\r\n')
    assert changes(notebook, root) == []
    run.write_text('{"ms": 2}\n', encoding="utf-8")
    assert changes(notebook, root) == ["the recorded runs"]


@pytest.mark.parametrize("metadata", [{}, {"minisgl_lite": {}}, {"minisgl_lite": {"fingerprint": "x"}}])
def test_never_executed(notebook: Any, root: Path, metadata: dict[str, Any]) -> None:
    notebook.metadata = nbformat.from_dict(metadata)
    assert changes(notebook, root) == ["it was never executed"]
