"""The package as a tree of chapters: which module belongs to which, and how to hide the later ones."""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "minisgl_lite"


_PLAIN_DOCSTRING = re.compile(r'\s*"""(?:[^"\\]|"(?!""))*"""[ \t]*\n')


def docstring_of(text: str) -> str:
    """The docstring of a module's text; empty when it has none."""
    plain = _PLAIN_DOCSTRING.match(text)  # to parse the rest as well would cost each graded process a moment
    return ast.get_docstring(ast.parse(plain[0] if plain else text)) or ""


def chapter_of_source(text: str) -> int | None:
    """The chapter that a module's docstring names in its first `Chapter NN`; None when it names none."""
    found = re.search(r"\bChapter (\d\d)\b", docstring_of(text))
    return int(found[1]) if found else None


def module_files(root: Path = ROOT) -> dict[str, Path]:
    """Dotted name -> file, for every module of the package, in order of the names."""
    files: dict[str, Path] = {}
    for path in (root / PACKAGE).rglob("*.py"):
        parts = path.relative_to(root).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return dict(sorted(files.items()))


def package_modules(root: Path = ROOT) -> dict[str, int]:
    """Dotted name -> chapter, for every module of the package whose docstring names one."""
    found: dict[str, int] = {}
    for name, path in module_files(root).items():
        chapter = chapter_of_source(path.read_text(encoding="utf-8"))
        if chapter is not None:
            found[name] = chapter
    return found


class LaterChapters:
    """A finder, first on `sys.meta_path`, to which modules of chapters after `chapter` do not exist."""

    for_ranks = True
    """The processes of tensor-parallel ranks get a copy."""

    def __init__(self, chapter: int, chapters: dict[str, int]) -> None:
        self.chapter = chapter
        self.chapters = chapters

    def hides(self, name: str) -> bool:
        """Whether the module belongs to a later chapter."""
        return self.chapters.get(name, 0) > self.chapter

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Never finds anything. Raises ModuleNotFoundError for a hidden module, so that no other finder is asked."""
        if self.hides(name):
            raise ModuleNotFoundError(f"No module named {name!r} (chapter {self.chapters[name]:02d})", name=name)
        return None


def limit_to(chapter: int, chapters: dict[str, int] | None = None) -> None:
    """Make the modules of later chapters unimportable in this process. Calling it again replaces the limit.
    chapters: what package_modules gives, where that is known.

    Raises RuntimeError, changing nothing, when a module of a later chapter has been imported already.
    """
    finder = LaterChapters(chapter, package_modules() if chapters is None else chapters)
    imported = sorted(name for name in sys.modules if finder.hides(name))
    if imported:
        raise RuntimeError(f"chapter {chapter:02d} is too late to hide {', '.join(imported)}: start a new process")
    sys.meta_path[:] = [finder, *(other for other in sys.meta_path if not isinstance(other, LaterChapters))]


def render_tree(
    folder: Path, chapter: int | None = None, new: int | None = None, columns: int = 0, only_new: bool = False
) -> str:
    """A folder's Python files as a drawing, one line each: name and the first line of its docstring.

    With `chapter`, only modules of chapters up to it; with `new`, those of that chapter are marked. Files without a
    docstring are left out, and so are `__init__.py` files, whose line stands beside their folder. columns: where a
    line that is longer goes on below; 0 for never. only_new: the marked files and their folders, and nothing else.
    """
    least = new if only_new else None
    rows = [(f"{folder.name}/", _summary(folder / "__init__.py"), False), *_rows(folder, "", chapter, new, least)]
    width = max(len(label) for label, _, _ in rows) + 2
    lines: list[str] = []
    for label, text, is_new in rows:
        room = columns - width - (5 if new else 0) if columns else max(1, len(text))
        for part in textwrap.wrap(text, room) or [""]:
            lines.append(f"{label:<{width}}{'new  ' if is_new else '     ' if new else ''}{part}".rstrip())
            label, is_new = _below(label), False
    return "\n".join(lines)


def _below(label: str) -> str:
    """What stands under a label when its text goes on in the next line: the bars that lead to what follows."""
    lead = re.sub(r"[^│├└ ].*", "", label.replace("├── ", "│   ").replace("└── ", "    "))
    return lead + ("│" if label.endswith("/") else "")


def _rows(
    folder: Path, lead: str, chapter: int | None, new: int | None, least: int | None
) -> list[tuple[str, str, bool]]:
    entries = sorted(path for path in folder.iterdir() if _shown(path, chapter, least))
    entries.sort(key=lambda path: path.is_dir())
    rows: list[tuple[str, str, bool]] = []
    for path in entries:
        last = path == entries[-1]
        label = lead + ("└── " if last else "├── ") + path.name
        if path.is_dir():
            rows.append((label + "/", _summary(path / "__init__.py"), False))
            rows += _rows(path, lead + ("    " if last else "│   "), chapter, new, least)
        else:
            is_new = new is not None and chapter_of_source(path.read_text(encoding="utf-8")) == new
            rows.append((label, _summary(path), is_new))
    return rows


def _shown(path: Path, chapter: int | None, least: int | None) -> bool:
    """Whether it is, or has in it, a module of the chapters from `least` to `chapter`; None: no limit."""
    if path.is_dir():
        return any(_shown(inner, chapter, least) for inner in path.iterdir())
    if path.suffix != ".py" or path.name == "__init__.py":
        return False
    text = path.read_text(encoding="utf-8")
    number = chapter_of_source(text) or 0
    return bool(docstring_of(text)) and (chapter is None or number <= chapter) and (least is None or number >= least)


def _summary(path: Path) -> str:
    """The first line of a file's docstring without the chapter."""
    if not path.exists():
        return ""
    first = docstring_of(path.read_text(encoding="utf-8")).partition("\n")[0]
    return re.sub(r"\s*\(?\bChapter \d\d\)?[.:]?\s*", " ", first).strip()
