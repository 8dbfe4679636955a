"""Reading a chapter's master: Markdown with fenced Python cells and `{{directives}}`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from .misread import misread

_FENCE = re.compile(r"^\s*(`{3,}|~{3,})(.*)$")
_PYTHON = re.compile(r'^python(?:\s+tags=\[((?:\s*"[\w-]+"\s*,?)*)\])?\s*$')
_DIRECTIVE = re.compile(r"^\{\{\s*([\w-]+)(?:\s+(\S.*?))?\s*\}\}$")
_FIELDS = ("title", "number", "part", "minutes", "difficulty")


class BuildError(ValueError):
    """Something that is derived cannot be made; the message names the file and, where there is one, the line."""


@dataclass(frozen=True)
class Block:
    """A piece of a master. kind: "markdown", "code" or "directive".

    text: Markdown, code, or the directive's argument. name: the directive's name. tags: a code cell's tags.
    line: where it starts, counted from 1. folded: whether it stands inside an open `<details>`.
    """

    kind: str
    text: str
    line: int
    name: str = ""
    tags: tuple[str, ...] = ()
    folded: bool = False


@dataclass(frozen=True)
class Master:
    """One chapter: what its front matter says, and its blocks in order."""

    path: Path
    about: dict[str, str]
    blocks: tuple[Block, ...]

    @property
    def chapter(self) -> int:
        """The chapter's number."""
        return int(self.about["number"])


def masters(root: Path) -> list[Path]:
    """The masters of all chapters, in order. Raises BuildError for two of one number."""
    found = sorted((root / "chapters").glob("[0-9][0-9]_*.md"))
    for one, other in pairwise(found):
        if one.name[:2] == other.name[:2]:
            raise BuildError(f"{one.name} and {other.name} are both chapter {one.name[:2]}")
    return found


def read_master(path: Path) -> Master:
    """Read one master. Raises BuildError naming the line for whatever is not as it should be."""
    lines = path.read_text(encoding="utf-8-sig").split("\n")
    for number, what in misread(lines):
        raise BuildError(f"{path.name}, line {number}: {what}")
    about, start = _front_matter(path, lines)
    return Master(path, about, tuple(_Reader(path, lines, start).blocks()))


def _front_matter(path: Path, lines: list[str]) -> tuple[dict[str, str], int]:
    if lines[0].strip() != "---" or "---" not in (line.strip() for line in lines[1:]):
        raise BuildError(f"{path.name}: the first lines must be a front matter between two lines `---`")
    end = next(i for i, line in enumerate(lines) if i and line.strip() == "---")
    pairs = (line.partition(":") for line in lines[1:end] if line.strip())
    about = {key.strip(): value.strip().strip("\"'") for key, _, value in pairs}
    for field in _FIELDS:
        if not about.get(field):
            raise BuildError(f"{path.name}: the front matter has no {field}")
    if about["number"] != path.name[:2]:
        raise BuildError(f"{path.name}: the front matter says number {about['number']}")
    return about, end + 1


class _Reader:
    """One pass over the lines."""

    def __init__(self, path: Path, lines: list[str], start: int) -> None:
        self.path, self.lines, self.at = path, lines, start
        self.depth = 0  # of open <details>
        self.prose: list[str] = []
        self.prose_line = start + 1

    def blocks(self) -> Iterator[Block]:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            fence, directive = _FENCE.match(line), _DIRECTIVE.match(line.strip())
            if fence:
                yield from self._fence(fence[1], fence[2].strip())
            elif directive:
                yield from self._directive(directive)
            else:
                if line.startswith(("# ", "## ", "### ")) and not self.depth:
                    yield from self._flush()
                self.depth += line.count("<details") - line.count("</details>")
                self._keep(line)
        yield from self._flush()

    def _keep(self, line: str) -> None:
        if not self.prose:
            self.prose_line = self.at + 1
        self.prose.append(line)
        self.at += 1

    def _flush(self) -> Iterator[Block]:
        text = "\n".join(self.prose).strip("\n")
        if text.strip():
            yield Block("markdown", text, self.prose_line, folded=self.depth > 0)
        self.prose = []

    def _fence(self, mark: str, info: str) -> Iterator[Block]:
        start = self.at
        end = next((i for i in range(start + 1, len(self.lines)) if self.lines[i].strip() == mark), None)
        if end is None:
            raise BuildError(f"{self.path.name}, line {start + 1}: this fence is not closed")
        python = _PYTHON.match(info)
        if info.startswith("python") and python is None:
            raise BuildError(f"{self.path.name}, line {start + 1}: expected ```python or ```python tags=[...]")
        if python is None or self.depth:
            while self.at <= end:
                self._keep(self.lines[self.at])
            return
        yield from self._flush()
        tags = tuple(re.findall(r'"([\w-]+)"', python[1] or ""))
        yield Block("code", "\n".join(self.lines[start + 1 : end]), start + 1, tags=tags)
        self.at = end + 1

    def _directive(self, found: re.Match[str]) -> Iterator[Block]:
        around = [self.lines[i] for i in (self.at - 1, self.at + 1) if 0 <= i < len(self.lines)]
        if any(line.strip() for line in around):
            raise BuildError(f"{self.path.name}, line {self.at + 1}: a directive must be a paragraph of its own")
        yield from self._flush()
        yield Block("directive", found[2] or "", self.at + 1, name=found[1], folded=self.depth > 0)
        self.at += 1
