"""One executed notebook -> one page: Markdown, files beside it, and HTML that is put in after Markdown has run."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from typing import Any

from .contents import dots
from .prose import escape_tokens, fold, notebook_links, outside_code

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_EDIT = re.compile(r"%%edit\s+([\w.]+):([\w.]+)[^\n]*\n")
_TEST = re.compile(r"%%test\s+([\w./-]+)::([\w:]+)[^\n]*\n")
_IMAGES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif"}


class NotebookError(ValueError):
    """A notebook cannot be published; the message names the notebook and the cell."""


@dataclass
class Page:
    """A notebook's page. html: placeholder id -> output to put in its place. files: file name -> content."""

    stem: str
    markdown: str = ""
    html: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)


def convert(notebook: Any, stem: str, colab: str = "") -> Page:
    """Render a notebook (as nbformat reads it) with its stored outputs.

    Cells tagged `remove-cell` are left out, of those tagged `remove-input` only the code; what cells tagged `predict`
    show is folded. Raises NotebookError for an error among the outputs of a cell that is not tagged `raises-exception`,
    and for a missing attachment.
    colab: where the notebook can be opened in Colab; no link without it.
    """
    page, parts = Page(stem), []
    for number, cell in enumerate(notebook.cells):
        tags = cell.metadata.get("tags", [])
        if "remove-cell" in tags:
            continue
        try:
            if cell.cell_type == "markdown":
                parts.append(_markdown(cell, f"{stem}_{number}", page))
            elif cell.cell_type == "code":
                parts += [] if "remove-input" in tags else [_code(cell)]
                outputs = [_output(o, cell, f"{stem}_{number}_{i}", page) for i, o in enumerate(cell.outputs)]
                parts += [_folded("Output", "\n\n".join(outputs))] if "predict" in tags and outputs else outputs
        except ValueError as error:
            raise NotebookError(f"{stem}.ipynb, cell {number + 1}: {error}") from error
    page.markdown = _headed("\n\n".join(parts) + "\n", notebook.metadata.get("minisgl_lite", {}), stem, colab)
    return page


def put_html(content: str, html: dict[str, str]) -> str:
    """A rendered page with its placeholders replaced."""
    return re.sub(r'<div id="(nb-html-[\w-]+)"></div>', lambda m: html.get(m[1], m[0]), content)


def fence(text: str, options: str) -> str:
    """A fenced block that no run of backticks in the text can close."""
    mark = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{mark}{options}\n{text.rstrip()}\n{mark}"


def _markdown(cell: Any, name: str, page: Page) -> str:
    attachments = {}
    for i, (title, bundle) in enumerate(sorted(cell.get("attachments", {}).items())):
        kind, data = next(iter(sorted(bundle.items())))
        file = f"{name}_{i}.{'svg' if 'svg' in kind else _IMAGES.get(kind, 'bin')}"
        page.files[file] = data.encode("utf-8") if "svg" in kind and "<" in data else base64.b64decode(data)
        attachments[title] = file
    return outside_code(cell.source, lambda prose: fold(escape_tokens(notebook_links(prose, attachments))))


def _code(cell: Any) -> str:
    source, title = cell.source, ""
    if edit := _EDIT.match(source):
        source, title = source[edit.end() :], f"{edit[1].replace('.', '/')}.py · {edit[2]}"
    elif test := _TEST.match(source):
        source, title = source[test.end() :], f"{test[1]} · {test[2]}"
    block = fence(source, f' {{ .python title="{title}" }}' if title else " { .python }")
    if cell.metadata.get("jupyter", {}).get("source_hidden"):
        return _folded("Code", block)
    return block


def _folded(summary: str, text: str) -> str:
    return f'<details markdown="1"><summary>{summary}</summary>\n\n{text}\n\n</details>'


def _output(output: Any, cell: Any, name: str, page: Page) -> str:
    if output.output_type == "stream":
        return fence(_ANSI.sub("", output.text), " { .text .nb-out }") if output.text.strip() else ""
    if output.output_type == "error":
        if "raises-exception" not in cell.metadata.get("tags", []):
            raise ValueError(f"the stored output is an error: {output.ename}: {output.evalue}")
        return fence(_ANSI.sub("", "\n".join(output.traceback)), " { .text .nb-out .nb-err }")
    data = output.data
    for kind in ("text/html", "image/svg+xml"):
        if kind in data:
            key = "nb-html-" + re.sub(r"[^\w-]", "-", name)
            page.html[key] = f'<div class="nb-html">{data[kind]}</div>'
            return f'<div id="{key}"></div>'
    for kind, ending in _IMAGES.items():
        if kind in data:
            page.files[f"{name}.{ending}"] = base64.b64decode(data[kind])
            alt = re.sub(r"[\[\]<>\s]+", " ", cell.metadata.get("alt", "output of the cell above"))
            return f"![{alt}]({name}.{ending}){{ .nb-image }}"
    if "text/markdown" in data:
        return outside_code(data["text/markdown"], lambda prose: fold(escape_tokens(notebook_links(prose, {}))))
    return fence(_ANSI.sub("", data["text/plain"]), " { .text .nb-out }") if "text/plain" in data else ""


def _headed(markdown: str, about: dict[str, Any], stem: str, colab: str) -> str:
    """Under the page's heading: part, time and difficulty, as far as they are known, and the notebook itself."""
    facts = [str(about["part"])] if "part" in about else []
    facts += [f"about {about['minutes']} minutes"] if "minutes" in about else []
    facts += [dots(int(about["difficulty"]))] if "difficulty" in about else []
    facts += [f'[Download this chapter as a notebook]({stem}.ipynb){{ download="{stem}.ipynb" }}']
    if colab:
        facts += [f"[Open in Colab]({colab}) ([what to run first](../setup.md#in-colab))"]
    heading = re.match(r"\s*# [^\n]*\n", markdown)
    end = heading.end() if heading else 0
    return f"{markdown[:end]}\n{' · '.join(facts)}\n{{ .nb-facts }}\n\n{markdown[end:]}"
