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


def dots(difficulty: int) -> str:
    """A difficulty from 1 to 5 as filled dots, in words for who points at it or cannot see it."""
    filled = "●" * difficulty + "○" * (5 - difficulty)
    return f'<span title="difficulty {difficulty} of 5">{filled}</span>'


def chapter_table(root: Path) -> str:
    """A Markdown table with a row for each chapter that has a notebook: number, title, part, difficulty, time."""
    rows = ["| | Chapter | Part | Difficulty | Time |", "|---|---|---|---|---|"]
    for notebook in sorted((root / "chapters").glob("[0-9][0-9]_*.ipynb")):
        master = notebook.with_suffix(".md")
        about = front_matter(master.read_text(encoding="utf-8")) if master.exists() else {}
        title = escape(str(about.get("title", notebook.stem)), quote=False).replace("|", "&#124;")
        stars = int(about.get("difficulty", 0))
        minutes = f"{about['minutes']} min" if "minutes" in about else ""
        link = f"[{title}](chapters/{notebook.stem}.md)"
        rows.append(f"| {about.get('number', '')} | {link} | {about.get('part', '')} | {dots(stars) if stars else ''} | {minutes} |")
    return "\n".join(rows)
