"""The list of everything that is derived, and what it should say."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..fingerprint import changes
from ..scratch import CELL_TIMEOUT
from ..spec import load_exercises
from ..stubs import stub_files
from ..tree import ROOT, render_tree
from .execute import execute
from .leaks import bodies, refuse_leaks
from .master import BuildError, masters
from .notebooks import build_notebook, text_of

_TREE = re.compile(r"(<!-- tree: ([\w /.-]+?) -->\n).*?(<!-- /tree -->)", re.DOTALL)


@dataclass
class Derived:
    """files: path relative to the root -> text. obsolete: files that nothing makes any more. stale: notebook -> why.

    failed: what is wrong with each notebook that could not be executed, or shows what an exercise asks for; these are
    left as they are on disk.
    """

    files: dict[str, str] = field(default_factory=dict)
    obsolete: list[str] = field(default_factory=list)
    stale: dict[str, list[str]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def differing(self, root: Path) -> list[str]:
        """The files whose bytes on disk are not what they should be, and the obsolete ones."""
        return [
            name for name, text in self.files.items() if _bytes(root / name) != text.encode("utf-8")
        ] + self.obsolete

    def write(self, root: Path) -> list[str]:
        """Write what differs and remove what is obsolete; the names of both."""
        changed = self.differing(root)
        for name in changed:
            path = root / name
            if name in self.obsolete:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.files[name], encoding="utf-8", newline="\n")
        return changed


def derive(
    root: Path,
    chapters: Sequence[int] = (),
    execute_stale: bool = False,
    force: bool = False,
    cell_timeout: int = CELL_TIMEOUT,
    say: Callable[[str], None] = lambda _: None,
) -> Derived:
    """Work out every derived file; writes nothing. `chapters`: only the notebooks of these (none: all).

    Raises BuildError, SourceError or SpecError, naming the file at fault.
    """
    derived = Derived()
    stubs = stub_files(root)
    derived.files |= stubs
    derived.obsolete += [n for n in _names(root, "exercises/*/stub/**/*.py") if n not in stubs]
    derived.files |= _trees(root)
    if root == ROOT and not chapters:
        from ..site.figures import figures  # here: it imports the package

        derived.files |= figures()
    derived.obsolete += [n for n in _names(root, "chapters/[0-9][0-9]_*.ipynb") if not _master(root, n).exists()]
    known = load_exercises(root)
    for path in masters(root):
        if chapters and int(path.name[:2]) not in chapters:
            continue
        name = path.with_suffix(".ipynb").relative_to(root).as_posix()
        notebook: Any = build_notebook(root, path, known)
        try:
            if execute_stale and (force or changes(notebook, root)):
                notebook = execute(notebook, root, name, say, cell_timeout)
            refuse_leaks(notebook, name, bodies(root, known, int(path.name[:2])))
        except BuildError as error:
            derived.failed.append(str(error))
            continue
        derived.files[name] = text_of(notebook)
        if why := changes(notebook, root):
            derived.stale[name] = why
    return derived


def _master(root: Path, notebook: str) -> Path:
    return (root / notebook).with_suffix(".md")


def _trees(root: Path) -> dict[str, str]:
    """Documents in which `<!-- tree: folder ... -->` and `<!-- /tree -->` enclose the drawing of those folders."""
    found: dict[str, str] = {}
    for path in [*sorted(root.glob("*.md")), *sorted((root / "docs").glob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        parts = _TREE.split(text)  # prose, opening, folders, closing, prose, ...
        for i in range(1, len(parts), 4):
            parts[i + 1] = f"```text\n{_drawing(root, path, parts[i + 1])}\n```\n"
        if len(parts) > 1:
            found[path.relative_to(root).as_posix()] = "".join(parts)
    return found


def _drawing(root: Path, document: Path, folders: str) -> str:
    missing = [name for name in folders.split() if not (root / name).is_dir()]
    if missing:
        raise BuildError(f"{document.name}: there is no folder {missing[0]} to draw")
    return "\n".join(render_tree(root / name) for name in folders.split())


def _names(root: Path, pattern: str) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.glob(pattern))


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None
