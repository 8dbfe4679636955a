"""Who holds which page of the KV pool after each round, worked out from a trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

Owner = int | Literal["cache", "free"]

MAX_ROUNDS = 200
MAX_PAGES = 1024


@dataclass(frozen=True)
class Frame:
    """The pool after one round. owners: one a page. changed: pages that changed hands in it, also if there and back."""

    index: int
    phase: str
    owners: tuple[Owner, ...]
    changed: frozenset[int]
    text: str

    def held(self, owner: Owner) -> int:
        """How many pages an owner has."""
        return self.owners.count(owner)


@dataclass(frozen=True)
class PageHistory:
    """A trace, ready to draw. uids: who ever held a page, in order. left_out: what did not fit, as a sentence."""

    num_pages: int
    frames: tuple[Frame, ...]
    uids: tuple[int, ...]
    names: Mapping[int, str]
    left_out: str

    def name(self, owner: Owner) -> str:
        """How an owner is called in a sentence."""
        return owner if isinstance(owner, str) else self.names.get(owner, f"req {owner}")

    @property
    def fullest(self) -> int:
        """The first frame with the fewest free pages; 0 without any."""
        return min(range(len(self.frames)), key=lambda k: self.frames[k].held("free"), default=0)

    def changes(self) -> list[list[tuple[int, Owner]]]:
        """For each page, in order: (frame, owner from then on) of every change; before the first it is free."""
        found: list[list[tuple[int, Owner]]] = [[] for _ in range(self.num_pages)]
        for k, frame in enumerate(self.frames):
            for page in frame.changed:
                found[page].append((k, frame.owners[page]))
        return found


def page_history(trace: Iterable[Any], num_pages: int, names: Mapping[int, str] | None = None) -> PageHistory:
    """Read a trace: `Round` records, or mappings with the same fields; only `page_events` is needed.

    The trace must begin with the pool: all pages are free before it. The first 200 rounds and 1,024 pages are kept;
    `left_out` says so. Raises ValueError for a page outside 0 .. num_pages - 1.
    """
    rounds = list(trace)
    shown = min(num_pages, MAX_PAGES)
    owners: list[Owner] = ["free"] * num_pages
    order: dict[int, None] = {}
    blank = PageHistory(num_pages, (), (), dict(names or {}), "")
    frames = []
    for number, r in enumerate(rounds[:MAX_ROUNDS]):
        before, changed = list(owners), dict[int, None]()
        for page, owner in field(r, "page_events", ()):
            if not 0 <= page < num_pages:
                raise ValueError(f"page {page} is in the trace; the pool has pages 0..{num_pages - 1}")
            owners[page] = owner
            changed[page] = None
            if not isinstance(owner, str):
                order[owner] = None
        index, phase = field(r, "index", number), str(field(r, "phase", ""))
        text = _sentence(f"After round {index}" + (f" ({phase})" if phase else ""), before, owners, changed, blank)
        frames.append(Frame(index, phase, tuple(owners[:shown]), frozenset(p for p in changed if p < shown), text))
    cut = []
    if len(rounds) > MAX_ROUNDS:
        cut.append(f"the first {MAX_ROUNDS} of {len(rounds)} rounds")
    if num_pages > shown:
        cut.append(f"the first {shown:,} of {num_pages:,} pages")
    return PageHistory(shown, tuple(frames), tuple(order), blank.names, "shown: " + ", ".join(cut) if cut else "")


def field(record: Any, name: str, default: Any) -> Any:
    """A field of a record or an entry of a mapping."""
    return record.get(name, default) if isinstance(record, Mapping) else getattr(record, name, default)


def spans(pages: Iterable[int]) -> str:
    """Page numbers as text, neighbours joined: `0–3, 7`."""
    runs: list[list[int]] = []
    for page in sorted(pages):
        if runs and page == runs[-1][1] + 1:
            runs[-1][1] = page
        else:
            runs.append([page, page])
    more = f" and {len(runs) - 8} more" if len(runs) > 8 else ""
    return ", ".join(f"{a}–{b}" if a < b else f"{a}" for a, b in islice(runs, 8)) + more


def _sentence(head: str, before: list[Owner], after: list[Owner], changed: Iterable[int], names: PageHistory) -> str:
    counts = Counter(after)
    free = counts.pop("free", 0)
    parts = [f"{names.name(owner)} {n}" for owner, n in islice(counts.items(), 12)]
    parts += [f"{len(counts) - 12} others"] if len(counts) > 12 else []
    taken: dict[Owner, list[int]] = {}
    given: dict[Owner, list[int]] = {}
    for page in changed:
        if after[page] != "free":
            taken.setdefault(after[page], []).append(page)
        elif before[page] != "free":
            given.setdefault(before[page], []).append(page)
    text = f"{head}: pages held: {', '.join(parts) or 'none'}; free {free}"
    for title, moved in (("pages taken", taken), ("pages given back", given)):
        if moved:
            who = "; ".join(f"{spans(pages)} ({names.name(owner)})" for owner, pages in islice(moved.items(), 12))
            text += f" · {title}: {who}"
    return text
