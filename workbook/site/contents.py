"""The table of chapters on the home page, from what the chapters' masters say of themselves."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import yaml


def front_matter(text: str) -> dict[str, Any]:
    """The YAML block at the top of a chapter's master; empty without one."""
    if not text.startswith("---\n"):
        return {}
    found = yaml.safe_load(text[4:].partition("\n---\n")[0])
    return found if isinstance(found, dict) else {}


def chapter_table(root: Path) -> str:
    """A Markdown table with a row for each chapter that has a notebook: number, title, part, difficulty, time."""
    rows = ["| | Chapter | Part | Difficulty | Time |", "|---|---|---|---|---|"]
    for notebook in sorted((root / "chapters").glob("[0-9][0-9]_*.ipynb")):
        master = notebook.with_suffix(".md")
        about = front_matter(master.read_text(encoding="utf-8")) if master.exists() else {}
        title = escape(str(about.get("title", notebook.stem)), quote=False).replace("|", "&#124;")
        stars = int(about.get("difficulty", 0))
        dots = f'<span title="{stars} of 5">{"●" * stars}{"○" * (5 - stars)}</span>' if stars else ""
        minutes = f"{about['minutes']} min" if "minutes" in about else ""
        link = f"[{title}](chapters/{notebook.stem}.md)"
        rows.append(f"| {about.get('number', '')} | {link} | {about.get('part', '')} | {dots} | {minutes} |")
    return "\n".join(rows)
