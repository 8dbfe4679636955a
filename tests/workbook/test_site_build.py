"""Small sites built with the hook: what a reader and the search see, and what a strict build refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import nbformat.v4 as nb
import pytest
import yaml
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

ROOT = Path(__file__).resolve().parents[2]


def site(
    root: Path,
    cells: dict[str, list[Any]],
    nav: list[Any] | None = None,
    extra: dict[str, str] | None = None,
    **docs: str,
) -> Path:
    """Build a site of these notebooks and pages; its folder."""
    (root / "docs").mkdir(exist_ok=True)
    (root / "chapters").mkdir(exist_ok=True)
    for name, text in {"index": "# Home", **docs}.items():
        path = root / f"docs/{name.replace('__', '/')}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name, content in cells.items():
        nbformat.write(nb.new_notebook(cells=content), root / f"chapters/{name}.ipynb")
    config: dict[str, Any] = {
        "site_name": "t",
        "use_directory_urls": False,
        "theme": {"name": "material", "font": False},
        "hooks": [str(ROOT / "workbook/site/hook.py")],
        "plugins": ["search"],
        "extra": extra or {},
        "nav": nav or [{"Home": "index.md"}, {"Chapters": ["chapters/*"]}],
        "validation": {"links": {"anchors": "warn", "not_found": "warn"}},
        "markdown_extensions": ["attr_list", "md_in_html", "pymdownx.highlight", "pymdownx.superfences"],
    }
    (root / "mkdocs.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    build(load_config(config_file=str(root / "mkdocs.yml"), site_dir=str(root / "out"), strict=True))
    return root / "out"


FOLDED = """# Five

<details><summary>The body</summary>

Secretword.

```python
def folded_reference():
    return "<s>"
```

<details><summary><code>Inner.name</code></summary>

```python
inner_reference = 1
```

</details>

Innerword.

</details>

Openword <s> and a<b."""


def test_folds_render_and_are_not_searched(tmp_path: Path) -> None:
    out = site(tmp_path, {"05_five": [nb.new_markdown_cell(FOLDED)]})
    html = (out / "chapters/05_five.html").read_text(encoding="utf-8")
    assert "<p>Secretword.</p>" in html
    assert "&lt;s&gt; and a&lt;b" in html
    found = (out / "search/search_index.json").read_text(encoding="utf-8")
    assert "Openword" in found
    assert "Secretword" not in found
    for folded in ("folded_reference", "inner_reference", "Innerword"):
        assert folded in html
        assert folded not in found
    assert "<p>Innerword.</p>" in html
    assert html.count("</details>") == html.count("<details") == 2
    assert json.loads((out / "chapters/05_five.ipynb").read_text(encoding="utf-8"))["nbformat"] == 4


def test_html_output_reaches_the_page_to_the_byte(tmp_path: Path) -> None:
    raw = "<div>\n\n    <b>x</b>\n# y</div><script>if (1 < 2 && 3) go(`<p>`);</script>"
    cell = nb.new_code_cell("v", outputs=[nb.new_output("display_data", data={"text/html": raw})])
    out = site(tmp_path, {"05_five": [nb.new_markdown_cell("# Five"), cell]})
    assert raw in (out / "chapters/05_five.html").read_text(encoding="utf-8")


def test_titles_of_the_navigation_win_and_the_rest_follows(tmp_path: Path) -> None:
    notebooks = {name: [nb.new_markdown_cell(f"# Own {name}")] for name in ("05_a", "06_b")}
    nav = [{"Home": "index.md"}, {"Chapters": [{"Named here": "chapters/06_b.md"}, "chapters/*"]}]
    html = (site(tmp_path, notebooks, nav) / "index.html").read_text(encoding="utf-8")
    assert html.index("Named here") < html.index("Own 05_a")
    assert "Own 06_b" not in html


def test_links_between_notebooks(tmp_path: Path) -> None:
    out = site(
        tmp_path,
        {
            "05_a": [nb.new_markdown_cell("# A\n\n[b](06_b.ipynb#The-End) [home](../docs/index.md)")],
            "06_b": [nb.new_markdown_cell("# B\n\n## The End")],
        },
    )
    html = (out / "chapters/05_a.html").read_text(encoding="utf-8")
    assert 'href="06_b.html#the-end"' in html
    assert 'href="../index.html"' in html


@pytest.mark.parametrize("target", ["06_gone.ipynb", "../minisgl_lite/gone.py", "05_a.ipynb#Nowhere", "picture.png"])
def test_dead_links_fail_a_strict_build(tmp_path: Path, target: str) -> None:
    with pytest.raises(Abort):
        site(tmp_path, {"05_a": [nb.new_markdown_cell(f"# A\n\n![x]({target}) [x]({target})")]})


def test_two_sources_of_one_page_fail(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(Abort):
        site(tmp_path, {"05_a": [nb.new_markdown_cell("# A")]}, chapters__05_a="# Other")
    assert (
        "chapters/05_a.md of the site would come from chapters/05_a.ipynb and from docs/ or another chapter"
        in caplog.text
    )


def test_a_stored_error_fails(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cell = nb.new_code_cell("x", outputs=[nb.new_output("error", ename="KeyError", evalue="3", traceback=["t"])])
    with pytest.raises(Abort):
        site(tmp_path, {"05_a": [cell]})
    assert "05_a.ipynb, cell 1: the stored output is an error: KeyError: 3" in caplog.text


def test_colab_opens_the_chapters_of_the_named_repository(tmp_path: Path) -> None:
    extra = {"repository": "https://github.com/someone/some.name.git", "branch": "part-one"}
    setup = {"setup": "# Setup\n\n## In Colab"}
    html = (
        site(tmp_path, {"05_a": [nb.new_markdown_cell("# A")]}, extra=extra, **setup) / "chapters/05_a.html"
    ).read_text(encoding="utf-8")
    address = "https://colab.research.google.com/github/someone/some.name/blob/part-one/chapters/05_a.ipynb"
    assert f'href="{address}"' in html
    assert 'href="../setup.html#in-colab"' in html


def test_without_a_repository_there_is_no_link_to_colab(tmp_path: Path) -> None:
    out = site(tmp_path, {"05_a": [nb.new_markdown_cell("# A")]}, extra={"repository": "", "branch": "main"})
    assert "olab" not in (out / "chapters/05_a.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("address", ["https://example.org/a/b", "someone/name", "https://github.com/a/b/c"])
def test_colab_opens_only_repositories_on_github(tmp_path: Path, address: str) -> None:
    with pytest.raises(Abort):
        site(tmp_path, {"05_a": [nb.new_markdown_cell("# A")]}, extra={"repository": address})
