"""The site: what the hook makes of a notebook, what fails the build, and that the real site is whole."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import nbformat.v4 as nb
import pytest

from workbook.site.cli import REDIRECT, main
from workbook.site.contents import chapter_table
from workbook.site.figures import figures
from workbook.site.notebook import NotebookError, convert, put_html
from workbook.site.prose import escape_tokens, notebook_links, outside_code, source_links

ROOT = Path(__file__).resolve().parents[2]


def code(source: str, *outputs: Any, **metadata: Any) -> Any:
    return nb.new_code_cell(source, outputs=list(outputs), metadata=metadata)


def shown(**data: str) -> Any:
    return nb.new_output("display_data", data={k.replace("_", "/"): v for k, v in data.items()})


def page(*cells: Any) -> Any:
    return convert(nb.new_notebook(cells=list(cells)), "05_x")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a<b and <|eot_id|> and <s>", "a&lt;b and &lt;|eot_id|> and &lt;s>"),
        ("<details><summary>x</summary>", "<details><summary>x</summary>"),
        ("<img src='a'> <br/> <!-- <s> -->", "<img src='a'> <br/> <!-- <s> -->"),
        ("<https://example.org>", "<https://example.org>"),
        ("<selfmade> x<a", "&lt;selfmade> x&lt;a"),
    ],
)
def test_only_tags_stay_tags(text: str, wanted: str) -> None:
    assert escape_tokens(text) == wanted


def test_code_is_left_alone() -> None:
    text = "a<b `<s>` ``x ` <s>`` \n```\n<s>\n```\n~~~~\n<s>\n~~~\n<s>\n~~~~\n<s>"
    wanted = "a&lt;b `<s>` ``x ` <s>`` \n```\n<s>\n```\n~~~~\n<s>\n~~~\n<s>\n~~~~\n&lt;s>"
    assert outside_code(text, escape_tokens) == wanted


@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        ("04_pages.ipynb", "04_pages.md"),
        ("04_pages.ipynb#The-KV-pool,-in-short", "04_pages.md#the-kv-pool-in-short"),
        ("#Where-you-are", "#where-you-are"),
        ("../docs/setup.md#windows", "../setup.md#windows"),
        ("https://example.org/a.ipynb#B", "https://example.org/a.ipynb#B"),
    ],
)
def test_links_of_a_notebook(target: str, wanted: str) -> None:
    assert notebook_links(f"see [it]({target})!", {}) == f"see [it]({wanted})!"


def test_links_to_sources_become_text_and_dead_ones_stay() -> None:
    there = {"minisgl_lite/core.py", "docs/setup.md", "judge.py"}.__contains__
    text = "[core](../minisgl_lite/core.py) [gone](../minisgl_lite/gone.py) [setup](setup.md) [j](../judge.py#L3)"
    assert (
        source_links(text, "docs/architecture.md", there) == "core [gone](../minisgl_lite/gone.py) [setup](setup.md) j"
    )


def test_code_outputs_and_captions() -> None:
    edit = "%%edit minisgl_lite.scheduler.decode:DecodeManager.add\ndef add(self): ...\n"
    made = page(
        nb.new_markdown_cell("# Title\n\ntext"),
        code(edit, nb.new_output("stream", name="stdout", text="<s> \x1b[31mred\x1b[0m ```\n")),
        code("1", shown(text_plain="a<b")),
        code("hidden", tags=["remove-cell"]),
        code("unseen", shown(text_plain="seen"), tags=["remove-input"]),
        code("%%test tests/ch05/test_a.py::test_b\ndef test_b(): ...\n"),
        code("folded = 1", jupyter={"source_hidden": True}),
    )
    text = made.markdown
    assert (
        '``` { .python title="minisgl_lite/scheduler/decode.py · DecodeManager.add" }\ndef add(self): ...\n```' in text
    )
    assert '``` { .python title="tests/ch05/test_a.py · test_b" }\ndef test_b(): ...\n```' in text
    assert "```` { .text .nb-out }\n<s> red ```\n````" in text
    assert "a<b" in text
    assert "hidden" not in text
    assert "unseen" not in text
    assert "seen" in text
    assert '<details markdown="1"><summary>Code</summary>' in text
    assert text.startswith("# Title\n\n[Download this chapter as a notebook](05_x.ipynb)")


def test_html_and_pictures() -> None:
    html = "<table>\n\n<tr><td><s>&amp;</td></tr></table><script>if (1 < 2) x();</script>"
    made = page(
        code("1", shown(text_html=html, text_plain="no")), code("2", shown(image_png="aGk=", text_plain="<Figure>"))
    )
    assert put_html('<div id="nb-html-05_x_0_0"></div>', made.html) == f'<div class="nb-html">{html}</div>'
    assert made.files == {"05_x_1_0.png": b"hi"}
    assert "![output of the cell above](05_x_1_0.png)" in made.markdown


def test_attachments() -> None:
    cell = nb.new_markdown_cell("![p](attachment:a%20b.png)", attachments={"a b.png": {"image/png": "aGk="}})
    made = page(cell)
    assert made.files == {"05_x_0_0.png": b"hi"}
    assert "![p](05_x_0_0.png)" in made.markdown
    with pytest.raises(NotebookError, match=r"05_x.ipynb, cell 1: attachment b.png is missing"):
        page(nb.new_markdown_cell("![p](attachment:b.png)"))


def test_an_error_fails_unless_it_is_meant() -> None:
    error = nb.new_output("error", ename="OutOfPages", evalue="no page", traceback=["tb <s>"])
    with pytest.raises(NotebookError, match=r"05_x.ipynb, cell 1: .* OutOfPages: no page"):
        page(code("x", error))
    assert "tb <s>" in page(code("x", error, tags=["raises-exception"])).markdown


def test_a_link_to_colab_only_where_there_is_an_address() -> None:
    notebook = nb.new_notebook(cells=[nb.new_markdown_cell("# Title")])
    assert "Colab" not in convert(notebook, "05_x").markdown
    assert "· [Open in Colab](https://c/05_x.ipynb) (" in convert(notebook, "05_x", "https://c/05_x.ipynb").markdown


def test_a_live_widget_is_shown_as_the_picture_beside_it() -> None:
    made = page(code("1", shown(text_html="<p>picture</p>", text_plain="no")))
    assert list(made.html.values()) == ['<div class="nb-html"><p>picture</p></div>']


def test_table_of_chapters(tmp_path: Path) -> None:
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters/05_x.ipynb").write_text("{}", encoding="utf-8")
    front = '---\ntitle: "A | <b"\nnumber: "05"\npart: P\nminutes: 75\ndifficulty: 3\n---\n# x\n'
    (tmp_path / "chapters/05_x.md").write_text(front, encoding="utf-8")
    row = chapter_table(tmp_path).splitlines()[2]
    assert (
        row == '| 05 | [A &#124; &lt;b](chapters/05_x.md) | P | <span title="difficulty 3 of 5">●●●○○</span> | 75 min |'
    )


def test_derived_pictures_are_up_to_date() -> None:
    for name, text in figures().items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"{name}: run `python -m workbook site --figures`"


def test_the_real_site_is_whole_and_asks_for_nothing_outside(tmp_path: Path) -> None:
    assert main(["--out", str(tmp_path)]) == 0
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == REDIRECT
    pages = {path.resolve(): path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.html")}
    ids = {path: set(re.findall(r'\bid="([^"]+)"', text)) for path, text in pages.items()}
    for path, text in pages.items():
        if path.name == "404.html":
            continue
        assert not re.search(
            r'<(?:script|img|iframe)[^>]*\ssrc="(?:https?:)?//|<link[^>]*\shref="(?:https?:)?//', text
        ), path
        for target in re.findall(r'(?:href|src)="([^"]+)"', text):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = there / "index.html" if there.is_dir() else there
            assert there.exists(), f"{path}: {target}"
            assert not parts.fragment or there not in ids or unquote(parts.fragment) in ids[there], f"{path}: {target}"
