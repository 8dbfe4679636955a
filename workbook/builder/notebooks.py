"""From a master to a notebook: cells, ids, and the outputs that are stored already."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from ..spec import Exercise, load_exercises
from .directives import Directives
from .master import Master, read_master

_format: Any = nbformat  # it is not typed
NAMESPACE = "minisgl_lite"  # of what we keep in a notebook's metadata
PREDICT = "predict"  # tag of a cell whose output the reader is asked for first
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_LANGUAGE = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"}


@dataclass(frozen=True)
class Cell:
    """A cell before it has an id. key: what the id is made from; it outlives small edits of the text."""

    kind: str
    source: str
    key: str
    tags: tuple[str, ...] = ()


def build_notebook(root: Path, path: Path, exercises: Sequence[Exercise] | None = None) -> Any:
    """The notebook of one master, with outputs and fingerprint taken over from the one that is stored.

    Raises BuildError. Reads the package, the exercises and the stored notebook; writes nothing.
    """
    known = load_exercises(root) if exercises is None else list(exercises)
    master = read_master(path)
    notebook = _format.v4.new_notebook(cells=_cells(list(_pieces(root, master, known))))
    about: dict[str, Any] = {"title": master.about["title"], "number": master.about["number"]}
    about |= {"part": master.about["part"], "minutes": int(master.about["minutes"])}
    about |= {"difficulty": int(master.about["difficulty"])}
    notebook.metadata = {"kernelspec": _KERNEL, "language_info": _LANGUAGE, NAMESPACE: about}
    stored = path.with_suffix(".ipynb")
    if stored.exists():
        _take_over(notebook, _format.read(stored, as_version=4))
    return notebook


def text_of(notebook: Any) -> str:
    """A notebook as the bytes that are committed. Raises nbformat's ValidationError."""
    _format.validate(notebook)
    return str(_format.writes(notebook, version=4)).rstrip("\n") + "\n"


def _pieces(root: Path, master: Master, exercises: list[Exercise]) -> list[Cell]:
    directives = Directives(root, master, exercises)
    cells: list[Cell] = []
    prose: list[str] = []

    def flush() -> None:
        if prose:
            for text in _after_folds("\n\n".join(prose)):
                cells.append(Cell("markdown", text, text.partition("\n")[0]))
            prose.clear()

    for block in master.blocks:
        if block.kind == "markdown":
            if block.text.startswith("#"):
                flush()
            prose.append(block.text)
        elif block.kind == "code":
            flush()
            measured = ("nbval-ignore-output",) if "measured" in block.tags else ()
            cells.append(Cell("code", block.text, block.text, (*block.tags, *measured)))
        else:
            kind, source = directives.cell(block)
            if kind == "markdown" and block.name != "exercise":
                prose.append(source)
                continue
            flush()
            for text in _after_folds(source) if kind == "markdown" else [source]:
                cells.append(Cell(kind, text, f"{block.name} {block.text}"))
    flush()
    setup = f"%load_ext workbook.notebook\n%chapter {master.about['number']}"
    first = next((i for i, cell in enumerate(cells) if cell.kind == "markdown"), -1)
    return [*cells[: first + 1], Cell("code", setup, "setup"), *cells[first + 1 :]]


def _after_folds(text: str) -> list[str]:
    """The text in pieces: what follows a fold begins a cell, for JupyterLab leaves no gap between the two in one."""
    pieces: list[list[str]] = [[]]
    depth = 0
    for paragraph in text.split("\n\n"):
        if pieces[-1] and depth == 0 and pieces[-1][-1].endswith("</details>") and not paragraph.startswith("<details"):
            pieces.append([])
        pieces[-1].append(paragraph)
        depth += paragraph.count("<details") - paragraph.count("</details>")
    return ["\n\n".join(piece) for piece in pieces]


def _cells(pieces: list[Cell]) -> list[Any]:
    """With ids: a hash of the key, and its count where a key comes twice."""
    seen: Counter[str] = Counter()
    made = []
    for piece in pieces:
        name = f"{piece.kind}:{piece.key}"
        seen[name] += 1
        id_ = hashlib.sha256(f"{name}:{seen[name]}".encode()).hexdigest()[:12]
        new = _format.v4.new_code_cell if piece.kind == "code" else _format.v4.new_markdown_cell
        made.append(new(piece.source, id=id_, metadata={"tags": list(piece.tags)} if piece.tags else {}))
    return made


def _take_over(notebook: Any, stored: Any) -> None:
    """Outputs by cell id; a changed cell takes those of the stored cell in its place, if there are as many cells."""
    old = [cell for cell in stored.cells if cell.cell_type == "code"]
    new = [cell for cell in notebook.cells if cell.cell_type == "code"]
    by_id = {cell.id: cell for cell in old}
    for position, cell in enumerate(new):
        source = by_id.get(cell.id) or (old[position] if len(old) == len(new) else None)
        if source is not None:
            cell.outputs, cell.execution_count = source.outputs, source.execution_count
    fingerprint = stored.metadata.get(NAMESPACE, {}).get("fingerprint")
    if fingerprint is not None:
        notebook.metadata[NAMESPACE]["fingerprint"] = fingerprint
