"""The MkDocs hook: every chapters/*.ipynb becomes a page, with the outputs that are stored in it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
# MkDocs loads a hook by its path: the package around it must be the one of the same tree, wherever that lies
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from workbook.site.contents import chapter_table  # noqa: E402
from workbook.site.figures import engine_at_work  # noqa: E402
from workbook.site.notebook import NotebookError, Page, convert, put_html  # noqa: E402
from workbook.site.prose import escape_tokens, outside_code, source_links, unsearched_folds  # noqa: E402

IMAGES = (".png", ".svg", ".jpg", ".gif", ".webp")
PLACE = "chapters/*"
COLAB = "https://colab.research.google.com/github"
TABLE = "<!-- table of chapters -->"
FIGURE = '<div id="engine-at-work"></div>'


def on_config(config: Any) -> Any:
    """Put the chapters that there are in the place that the navigation leaves for them."""
    config.nav = _expand(config.nav, [f"chapters/{path.stem}.md" for path in _notebooks(_root(config))])
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add a page for each notebook, the notebook itself, and the pictures that they use."""
    root = _root(config)

    def add(uri: str, content: str | bytes, source: str) -> None:
        if files.get_file_from_path(uri) is not None:
            raise PluginError(f"{uri} of the site would come from {source} and from docs/ or another chapter")
        files.append(File.generated(config, uri, content=content))

    pages: dict[str, Page] = {}
    for path in _notebooks(root):
        uri, source = f"chapters/{path.stem}.md", path.relative_to(root).as_posix()
        try:
            notebook = nbformat.read(path, as_version=4)
            page = pages[uri] = convert(notebook, path.stem, _colab(config, path.name))
        except NotebookError as error:
            raise PluginError(str(error)) from error
        except (OSError, ValueError, AttributeError, nbformat.ValidationError) as error:
            raise PluginError(f"{source} is not a notebook: {error}") from error
        add(uri, page.markdown, source)
        add(f"chapters/{path.name}", path.read_bytes(), source)
        for name, content in page.files.items():
            add(f"chapters/{name}", content, source)
    for path in sorted((root / "chapters").rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix.lower() in IMAGES and "/." not in name:
            add(name, path.read_bytes(), name)
    config.extra["notebook_pages"] = pages
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Unlink repository files that are not published; keep `<s>` visible; fill in the table of chapters."""
    root, uri, path = _root(config), page.file.src_uri, page.file.src_uri
    if uri not in config.extra["notebook_pages"]:
        path, markdown = f"docs/{uri}", outside_code(markdown, escape_tokens)
    markdown = markdown.replace(TABLE, chapter_table(root)) if TABLE in markdown else markdown
    return outside_code(markdown, lambda prose: source_links(prose, path, lambda name: (root / name).exists()))


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Keep folds out of the search; put HTML and SVG outputs, and the engine at work, in their places."""
    html = unsearched_folds(html)
    if FIGURE in html:
        html = html.replace(FIGURE, f'<div class="nb-html">{engine_at_work()._repr_html_()}</div>')
    source = config.extra["notebook_pages"].get(page.file.src_uri)
    return put_html(html, source.html) if source else html


def on_post_template(output: str, template_name: str, config: Any) -> str:
    """Without the site's address, the page for what is not there would point to the top of its server or disk."""
    if template_name != "404.html" or config.site_url:
        return output
    return re.sub(r'((?:href|src)="|"search": ")/', r"\1", output).replace('"base": "/"', '"base": "."')


@event_priority(-100)  # when the search has written its index
def on_post_build(config: Any) -> None:
    """Beside the search's index, the same as a script: a page that was opened from a folder may not fetch the other."""
    index = Path(config.site_dir) / "search" / "search_index.json"
    if index.exists():
        script = f"var __index = {index.read_text(encoding='utf-8')};\n"
        index.with_suffix(".js").write_text(script, encoding="utf-8", newline="\n")


def _root(config: Any) -> Path:
    return Path(config.config_file_path).resolve().parent


def _colab(config: Any, name: str) -> str:
    """Where Colab opens a chapter's notebook; empty while the configuration names no repository on GitHub."""
    repository = str(config.extra.get("repository") or "").removesuffix("/").removesuffix(".git")
    if not repository:
        return ""
    if not (match := re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+)", repository)):
        raise PluginError(f"extra.repository is {repository!r}; it must be https://github.com/OWNER/NAME, or empty")
    return f"{COLAB}/{match[1]}/blob/{config.extra.get('branch') or 'main'}/chapters/{name}"


def _notebooks(root: Path) -> list[Path]:
    """The chapters; other notebooks, a student's or one that is left over, are not published."""
    return sorted((root / "chapters").glob("[0-9][0-9]_*.ipynb"))


def _expand(nav: Any, chapters: list[str]) -> Any:
    """The navigation with PLACE replaced by the chapters that it does not name itself."""

    def named(item: Any) -> list[str]:
        if isinstance(item, dict):
            return [uri for value in item.values() for uri in named(value)]
        return [uri for part in item for uri in named(part)] if isinstance(item, list) else [item]

    def expand(item: Any) -> Any:
        if isinstance(item, dict):
            return {title: expand(value) for title, value in item.items()}
        if isinstance(item, list):
            return [new for part in item for new in (rest if part == PLACE else [expand(part)])]
        return item

    rest = [uri for uri in chapters if uri not in named(nav or [])]
    return expand(nav)
