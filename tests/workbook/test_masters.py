"""What a reader would stumble over in a chapter, as far as a machine can find it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from workbook.builder.master import masters, read_master
from workbook.tree import ROOT

MASTERS = masters(ROOT)
WIDEST = 9.0  # inches of a figure: what a notebook beside JupyterLab's list of files shows on a small screen
THINGS = "batch|block|buffer|cop|entr|graph|kernel|node|page|position|rank|request|round|row|slot|step|token|word"


def prose(path: Path) -> Iterator[str]:
    """The lines of a master that Markdown reads: no cells, directives, fences and code spans."""
    for block in read_master(path).blocks:
        if block.kind == "markdown":
            text = re.sub(r"(?ms)^(`{3,}|~{3,}).*?^\1[ \t]*$", "", block.text)
            yield from re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", text).split("\n")


@pytest.mark.parametrize("path", MASTERS, ids=lambda path: path.stem)
def test_figures_are_not_wider_than_a_notebook(path: Path) -> None:
    widths = re.findall(r"figsize=\(\s*([\d.]+)", path.read_text(encoding="utf-8"))
    assert [width for width in widths if float(width) > WIDEST] == []


@pytest.mark.parametrize("path", MASTERS, ids=lambda path: path.stem)
def test_cells_show_no_comments_for_tools(path: Path) -> None:
    code = [line for block in read_master(path).blocks if block.kind == "code" for line in block.text.split("\n")]
    assert [line for line in code if re.search(r"#\s*(type:\s*ignore|noqa|fmt:)", line)] == []


@pytest.mark.parametrize("path", MASTERS, ids=lambda path: path.stem)
def test_names_with_underscores_are_code(path: Path) -> None:
    """Outside of backticks, Markdown makes `__init__` bold and takes its underscores away."""
    assert [line for line in prose(path) if re.search(r"__\w+__", line)] == []


@pytest.mark.parametrize("path", MASTERS, ids=lambda path: path.stem)
def test_one_of_a_kind_is_singular_in_outputs(path: Path) -> None:
    plural = re.compile(rf"(?<![\w.,:%$]) *\b1 (?:{THINGS})(?:ie|e)?s\b")
    reader: Any = nbformat.read
    for cell in reader(path.with_suffix(".ipynb"), as_version=4).cells:
        for output in cell.get("outputs", []):
            text = output.get("text") or str(output.get("data", ""))
            assert not (found := plural.search(text)), f"{cell.source[:60]!r}: {found[0] if found else ''}"
