"""Cells whose output the reader is asked for first: no output in the student's copy, a folded one on the site."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import sign

from tests.helpers.toytree import make_toytree
from workbook.builder.master import read_master
from workbook.lab import copy_notebooks, trust
from workbook.lab import main as lab
from workbook.site.notebook import convert
from workbook.tree import ROOT

MASTERS = sorted((ROOT / "chapters").glob("[0-9][0-9]_*.md"))


def notebook() -> Any:
    v4: Any = nbformat.v4
    cells = [v4.new_markdown_cell("# A")]
    for count, tags in enumerate((["predict"], ["predict", "measured"], []), 1):
        cell = v4.new_code_cell(f"cell{count}", execution_count=count, metadata={"tags": tags})
        cell.outputs = [v4.new_output("stream", name="stdout", text=f"answer{count}\n")]
        cells.append(cell)
    return v4.new_notebook(cells=cells)


def test_the_students_copy_does_not_show_what_to_predict(tmp_path: Path) -> None:
    (tmp_path / "chapters").mkdir()
    original = tmp_path / "chapters/05_a.ipynb"
    write: Any = nbformat.write
    write(notebook(), original)
    before = original.read_bytes()
    assert copy_notebooks(tmp_path) == ["work/chapters/05_a.ipynb"]
    text = (tmp_path / "work/chapters/05_a.ipynb").read_text(encoding="utf-8")
    assert re.findall(r"answer\d", text) == ["answer3"]
    assert re.findall(r"cell\d", text) == ["cell1", "cell2", "cell3"]
    assert [c.execution_count for c in nbformat.reads(text, as_version=4).cells[1:]] == [None, None, 3]  # type: ignore[no-untyped-call]
    assert original.read_bytes() == before
    (tmp_path / "work/chapters/05_a.ipynb").write_text("mine", encoding="utf-8")
    assert copy_notebooks(tmp_path) == []
    assert (tmp_path / "work/chapters/05_a.ipynb").read_text(encoding="utf-8") == "mine"


def test_links_of_the_students_copy_lead_to_the_docs(tmp_path: Path) -> None:
    for folder in ("chapters", "docs"):
        (tmp_path / folder).mkdir()
    (tmp_path / "docs/glossary.md").touch()
    v4, write = nbformat.v4, nbformat.write
    note = v4.new_markdown_cell("[glossary](../docs/glossary.md)")  # type: ignore[no-untyped-call]
    write(v4.new_notebook(cells=[note]), tmp_path / "chapters/05_a.ipynb")  # type: ignore[no-untyped-call]
    copy_notebooks(tmp_path)
    copy = tmp_path / "work/chapters/05_a.ipynb"
    [target] = re.findall(r"\((\S+glossary\.md)\)", copy.read_text(encoding="utf-8"))
    assert (copy.parent / target).is_file()


def test_the_students_copy_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the viewers would be still pictures until their cells are run."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    make_toytree(tmp_path)
    write: Any = nbformat.write
    write(notebook(), tmp_path / "chapters/05_a.ipynb")
    assert lab(["--no-open"], tmp_path) == 0
    notary, read = sign.NotebookNotary(), nbformat.read
    assert notary.check_signature(read(tmp_path / "work/chapters/05_a.ipynb", as_version=4))
    assert not notary.check_signature(read(tmp_path / "chapters/05_a.ipynb", as_version=4))
    (tmp_path / "jupyter-file").touch()
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter-file/below"))
    trust(tmp_path / "work/chapters/05_a.ipynb")  # cannot be recorded, which is no reason to fail


def test_the_site_folds_what_to_predict() -> None:
    markdown = convert(notebook(), "05_a").markdown
    folded = re.findall(r"<summary>Output</summary>\s+``` \{ .text .nb-out \}\nanswer(\d)\n```\s+</details>", markdown)
    assert folded == ["1", "2"]
    assert markdown.count("<details") == 2


@pytest.mark.parametrize("path", MASTERS, ids=lambda path: path.stem)
def test_a_question_before_a_cell_is_not_answered_by_it(path: Path) -> None:
    asked = False
    for block in read_master(path).blocks:
        if block.kind == "code" and asked:
            assert "predict" in block.tags, f"{path.name}, line {block.line}: the text above asks what this will show"
        asked = block.kind == "markdown" and "before you run the cell" in block.text.lower()
