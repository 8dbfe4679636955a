"""Faults that other sites of notebooks have had: each tried on a small tree with the real configuration."""

import base64
import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import nbformat.v4 as nb
import pytest
from mkdocs.exceptions import Abort
from nbformat import write

from tests.helpers.realsite import build_site, configure
from tests.helpers.toybook import MODULE
from tests.helpers.toytree import put
from workbook.tree import ROOT

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'
TOKENS = ("<s>", "</s>", "<|eot_id|>", "a<b", "<unk>")
TEXT = " ".join(TOKENS)
IN_A_TABLE = TEXT.replace("|", "\\|")  # as every Markdown asks
UNWANTED = ("IPython", "ipykernel", "ipywidgets", "nbclient", "nbval", "jupytext", "jupyterlab", "matplotlib", "pytest")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    put(root, "minisgl_lite/__init__.py", '"""The engine."""\n')
    put(root, "minisgl_lite/line.py", MODULE)
    (root / "chapters").mkdir()
    return root


def chapter(root: Path, *cells: Any, name: str = "05_a") -> None:
    write(nb.new_notebook(cells=list(cells)), root / f"chapters/{name}.ipynb")


def markdown(text: str, **more: Any) -> Any:
    return nb.new_markdown_cell(text, **more)


def shown(**data: str) -> Any:
    return nb.new_output("display_data", data={kind.replace("__", "/"): value for kind, value in data.items()})


def page(out: Path, name: str = "chapters/05_a.html") -> str:
    return (out / name).read_text(encoding="utf-8")


def visible(html: str) -> str:
    """The text of a page's article, as a reader sees it."""
    article = re.sub(r"(?s).*?<article[^>]*>|</article>.*", "", html)
    return unescape(re.sub(r"<[^>]*>", "", article))


def test_headings_are_the_page_s_own(root: Path, tmp_path: Path) -> None:
    text = "# Five\n\nA lone ` here, <s> there.\n\n## After it\n\n```python\n# comment\n```\n\n    ## indented\n"
    text += "\nand <unk> ` too."
    chapter(root, markdown(text), nb.new_code_cell("# of a cell\n1"))
    out = build_site(root, tmp_path / "out")
    html = page(out)
    assert re.findall(r'<h[1-6] id="([^"]+)"', html) == ["five", "after-it"]
    assert re.findall(r'href="#([^"]+)" class="md-nav__link"', html)[-1] == "after-it"
    assert "<s> there" in visible(html)
    assert "and <unk>" in visible(html)
    found = json.loads((out / "search/search_index.json").read_text(encoding="utf-8"))["docs"]
    titles = [doc["title"] for doc in found if doc["location"].startswith("chapters/05_a")]
    assert titles == ["Five", "After it"]


def test_the_menu_shows_the_title_of_the_navigation(root: Path, tmp_path: Path) -> None:
    chapter(root, markdown("# The heading"))
    config = configure(root)
    named = config.read_text(encoding="utf-8").replace("- chapters/*", "- The menu: chapters/05_a.md")
    config.write_text(named, encoding="utf-8")
    out = build_site(root, tmp_path / "out", configured=True)
    for name in ("index.html", "chapters/05_a.html"):
        menu = re.findall(r'<span class="md-ellipsis">\s*(.*?)\s*</span>', page(out, name), re.S)
        assert "The menu" in menu
        assert "The heading" not in menu
    assert "<h1 id=" in page(out)


@pytest.mark.parametrize("name", ["docs/chapters/05_a.md", "docs/chapters/picture.png", "docs/chapters/05_a_1_0.png"])
def test_two_sources_of_one_file_fail(root: Path, tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture) -> None:
    output = shown(image__png=base64.b64encode(PIXEL).decode())
    chapter(root, markdown("# Five"), nb.new_code_cell("1", outputs=[output]))
    (root / "chapters/picture.png").write_bytes(PIXEL)
    put(root, name, "# Other")
    with pytest.raises(Abort):
        build_site(root, tmp_path / "out")
    assert f"{name.removeprefix('docs/')} of the site would come from" in caplog.text


def test_pictures_are_there_in_a_folder_below(root: Path, tmp_path: Path) -> None:
    (root / "chapters/img").mkdir()
    (root / "chapters/img/a b.png").write_bytes(PIXEL)
    (root / "chapters/side.png").write_bytes(PIXEL)
    (root / "chapters/.ipynb_checkpoints").mkdir()
    (root / "chapters/.ipynb_checkpoints/side.png").write_bytes(PIXEL)
    attached = {"in it.png": {"image/png": base64.b64encode(PIXEL).decode()}, "v.svg": {"image/svg+xml": SVG}}
    text = "# Five\n\n![1](side.png) ![2](img/a%20b.png) ![3](attachment:in%20it.png) ![4](attachment:v.svg)\n\n"
    text += '<img src="side.png" alt="5"> <img alt="6" src="attachment:v.svg">'
    code = nb.new_code_cell(
        "1", outputs=[shown(image__svg__xml=SVG), shown(image__png=base64.b64encode(PIXEL).decode())]
    )
    code.outputs[0].data = {"image/svg+xml": SVG}
    chapter(root, markdown(text, attachments=attached), code)
    out = build_site(root, tmp_path / "server" / "some path" / "en")
    html = page(out)
    sources = re.findall(r'<img[^>]*\bsrc="([^"]+)"', html)
    assert len(sources) == 7
    for source in sources:
        file = out / "chapters" / source.replace("%20", " ")
        assert file.read_bytes() in (PIXEL, SVG.encode()), source
    assert SVG in html
    assert not list(out.rglob(".ipynb_checkpoints"))


def test_tokens_that_look_like_tags_stay_visible(root: Path, tmp_path: Path) -> None:
    plain = nb.new_code_cell(
        "1",
        outputs=[
            nb.new_output("stream", name="stdout", text=f"stream {TEXT}\n"),
            shown(text__plain=f"plain {TEXT}"),
            shown(text__markdown=f"marked {TEXT}\n\n| t |\n|---|\n| cell {IN_A_TABLE} |"),
        ],
    )
    error = nb.new_output("error", ename="E", evalue="e", traceback=[f"trace {TEXT}"])
    meant = nb.new_code_cell("2", outputs=[error], metadata={"tags": ["raises-exception"]})
    prose = f"# Five\n\nprose {TEXT}\n\n- item {TEXT}\n\n> quote {TEXT}\n\n**bold {TEXT}**\n\n`span {TEXT}`\n\n"
    prose += f"## head {TEXT}"
    chapter(root, markdown(prose), plain, meant)
    configure(root)
    put(root, "docs/index.md", f"# Home\n\ndocs {TEXT}\n\n`docspan {TEXT}`\n")
    out = build_site(root, tmp_path / "out", configured=True)
    text = re.sub(r"[ \n]+", " ", visible(page(out)))
    for where in ("prose", "item", "quote", "bold", "span", "head", "stream", "plain", "marked", "cell", "trace"):
        assert f"{where} {TEXT}" in text, where
    for where in ("docs", "docspan"):
        assert f"{where} {TEXT}" in visible(page(out, "index.html")), where
    assert f"head {TEXT}" in re.sub(r"\s+", " ", unescape(re.sub(r"</?(?!s>|\||unk)[a-z][^>]*>", "", page(out))))


def test_only_chapters_are_published_and_nothing_runs(root: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    chapter(root, markdown("# Five"), nb.new_code_cell(f"open({str(ran)!r}, 'w')"))
    raising = nb.new_code_cell("1/0", outputs=[nb.new_output("error", ename="ZeroDivisionError", evalue="")])
    for name in ("Untitled", "scratch_05", ".ipynb_checkpoints/05_a-checkpoint"):
        (root / f"chapters/{name}.ipynb").parent.mkdir(exist_ok=True)
        chapter(root, markdown("# Stray"), raising, name=name)
    out = build_site(root, tmp_path / "out")
    assert sorted(p.name for p in out.rglob("*.ipynb")) == ["05_a.ipynb"]
    assert "Stray" not in "".join(p.read_text(encoding="utf-8") for p in out.rglob("*.html"))
    assert not ran.exists()


def test_a_file_that_is_no_notebook_is_named(root: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    put(root, "chapters/05_a.ipynb", "<<<<<<< HEAD")
    with pytest.raises(Abort):
        build_site(root, tmp_path / "out")
    assert "chapters/05_a.ipynb is not a notebook" in caplog.text


def test_the_page_for_what_is_not_there_opens_from_a_folder(root: Path, tmp_path: Path) -> None:
    put(root, "docs/assets/file-worker.js", "")
    out = build_site(root, tmp_path / "out")
    html = page(out, "404.html")
    links = re.findall(r'(?:href|src)="([^"#]+)"|"(?:base|search)": "([^"]*)"', html)
    targets = [one or other for one, other in links if ":" not in one]
    assert len(targets) > 5
    assert [target for target in targets if not (out / target).exists()] == []


def test_the_style_sheet_knows_drawn_text(root: Path, tmp_path: Path) -> None:
    """The classes of blocks that the style sheet names are those that blocks have."""
    output = shown(text__plain="a   b")
    chapter(root, markdown("# Five\n\n```text\n└── a\n```"), nb.new_code_cell("1", outputs=[output]))
    classes = re.findall(r'<div class="([^"]*\bhighlight)"', page(build_site(root, tmp_path / "out")))
    style = (ROOT / "docs/assets/site.css").read_text(encoding="utf-8")
    for name in sorted(set(re.findall(r"\.((?:language|nb)-\w+)", style)) & {"language-text", "nb-out"}):
        assert any(name in each.split() for each in classes), name
    assert sum("language-text" in each.split() for each in classes) == 2
    assert ".language-text pre > code { white-space: pre;" in style
    # at any width: a drawing that goes on below in the middle of its lines is none
    at_any_width = style.split("@media")[0]
    assert ".language-text:not(.nb-out) pre > code { white-space: pre;" in at_any_width


def files(folder: Path) -> dict[str, bytes]:
    """What a reader gets, without what tells the time of the build."""
    found = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    return {
        name: re.sub(rb"<lastmod>.*?</lastmod>", b"", data) for name, data in found.items() if not name.endswith(".gz")
    }


@pytest.mark.slow
def test_the_site_needs_no_more_than_it_declares(root: Path, tmp_path: Path) -> None:
    """Twice, from two folders, with an empty home and without the packages of the other extras."""
    chapter(root, markdown("# Five"), nb.new_code_cell("1", outputs=[shown(text__plain="one")]))
    config = configure(root)
    (tmp_path / "home").mkdir()
    hide = f"import sys\nfor name in {UNWANTED!r}:\n    sys.modules[name] = None\n"
    command = hide + "from mkdocs.__main__ import cli\ncli()"
    environment = {"PATH": "", "HOME": str(tmp_path / "home"), "USERPROFILE": str(tmp_path / "home"), "PYTHONUTF8": "1"}
    built = []
    for folder, out in ((root, "one"), (root / "docs", "two")):
        done = subprocess.run(
            [sys.executable, "-c", command, "build", "--strict", "-f", str(config), "-d", str(tmp_path / out)],
            cwd=folder,
            env=environment | {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        built.append(files(tmp_path / out))
    assert "one" in visible(built[0]["chapters/05_a.html"].decode("utf-8"))
    assert built[0] == built[1]


@pytest.mark.slow
def test_a_notebook_runs_in_the_folder_of_the_chapters(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From wherever the builder is started: a neighbour file is found."""
    head = '---\ntitle: "A"\nnumber: "05"\npart: "P"\nminutes: 1\ndifficulty: 1\n---\n\n# A\n'
    put(root, "chapters/neighbour.txt", "hello")
    put(root, "chapters/05_a.md", head + "\n```python\nprint(open('neighbour.txt').read())\n```\n")
    put(root, "chapters/Untitled.ipynb", json.dumps(nb.new_notebook(cells=[nb.new_code_cell("1/0", id="a")])))
    build = "import sys; from pathlib import Path; from workbook.builder.cli import main; "
    build += f"sys.exit(main(['--execute'], Path({str(root)!r})))"
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (root / "docs").mkdir()
    for folder in (root, root / "docs"):
        (root / "chapters/05_a.ipynb").unlink(missing_ok=True)
        done = subprocess.run([sys.executable, "-c", build], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert '"hello\\n"' in (root / "chapters/05_a.ipynb").read_text(encoding="utf-8")
        assert "Untitled" not in done.stdout + done.stderr


def test_the_search_works_in_a_folder_too(root: Path, tmp_path: Path) -> None:
    chapter(root, markdown("# Five\n\nfindme </script> <s>"))
    out = build_site(root, tmp_path / "out")
    script = (out / "search/search_index.js").read_text(encoding="utf-8")
    assert script == f"var __index = {(out / 'search/search_index.json').read_text(encoding='utf-8')};\n"
    assert "findme" in script
    scripts = re.findall(r'<script src="([^"]+)"', page(out))
    assert scripts[0] == "../assets/file-worker.js"  # before the search asks for a worker
    assert "/javascripts/bundle." in scripts[1]
    assert (ROOT / "docs/assets/file-worker.js").is_file()
