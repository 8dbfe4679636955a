"""The site of a small tree, built with the real configuration."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.config import load_config

ROOT = Path(__file__).resolve().parents[2]
NAV = """nav:
  - Home: index.md
  - Chapters:
      - chapters/*
  - Reference: api.md
"""


def configure(root: Path) -> Path:
    """Write the real mkdocs.yml, with another navigation, and two pages into the tree; the configuration."""
    (root / "docs/assets").mkdir(parents=True, exist_ok=True)
    (root / "docs/assets/site.css").write_text("", encoding="utf-8")
    (root / "docs/index.md").write_text("# Home\n\n<!-- table of chapters -->\n", encoding="utf-8")
    (root / "docs/api.md").write_text("# Reference\n\n::: minisgl_lite.line\n", encoding="utf-8")
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    text = re.sub(r"^nav:\n.*?(?=^validation:)", lambda _: NAV, text, flags=re.M | re.S)
    text = text.replace("workbook/site/hook.py", (ROOT / "workbook/site/hook.py").as_posix())
    text = re.sub(r"^watch:.*\n", "", text, flags=re.M)
    (root / "mkdocs.yml").write_text(text, encoding="utf-8")
    return root / "mkdocs.yml"


def build_site(root: Path, out: Path, configured: bool = False) -> Path:
    """Build the tree's site into a folder; returns it. configured: the configuration is there already."""
    config = root / "mkdocs.yml" if configured else configure(root)
    build(load_config(config_file=str(config), site_dir=str(out), strict=True))
    return out


def unfolded(html: str) -> str:
    """A page without what stands in its folds."""
    depth, kept = 0, []
    for part in re.split(r"(</?details\b[^>]*>)", html):
        depth += part.startswith("<details") - part.startswith("</details")
        kept += [part] if depth == 0 else []
    return "".join(kept)
