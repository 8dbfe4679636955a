"""What Markdown would make of a master that its author did not mean: marks in summaries, numbers taken for a list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_FENCE = re.compile(r"^\s*(`{3,}|~{3,})(.*)$")
_SUMMARY = re.compile(r"<summary>(.*?)</summary>")
_MARK = re.compile(r"`|__|\*\*")  # a summary is HTML: backticks are shown; on the site, the others work even in <code>
_NUMBER = re.compile(r"^(\d+)[.)] ")


def misread(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """(line, what is wrong) for each Markdown mark in a summary, and each sentence that would become a list."""
    before, last = "", 0  # the last line that is not empty, and the number of the list's last item
    for number, line in _prose(lines):
        for summary in _SUMMARY.findall(line):
            if mark := _MARK.search(summary):
                hint = "write <code>...</code>, and &#95;&#95; for __"
                yield number, f"{mark[0]} in a summary is shown as it stands or lost; {hint}"
        if item := _NUMBER.match(line):
            if before.endswith("</summary>") or int(item[1]) not in (1, last + 1):
                yield number, f"Markdown makes a list of {item[0]!r}, and may number it anew; write a word"
            last = int(item[1])
        elif line.startswith(("#", "<")):
            last = 0
        before = line.strip() or before


def _prose(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The lines outside of fences, counted from 1."""
    mark = ""
    for number, line in enumerate(lines, 1):
        if mark:
            mark = "" if line.strip() == mark else mark
        elif fence := _FENCE.match(line):
            mark = fence[1]
        else:
            yield number, line
