"""PoolMap: the KV pool as a map of pages coloured by request, round by round, in a notebook and on the site."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from ..words import counted
from .chart import STYLE
from .pagemap import Frame, Owner, PageHistory, page_history
from .player import player

COLUMN, LEFT, TALL, WIDTH = 22, 92, 72, 620
# Okabe and Ito's colours without black; from the eighth request on they return with stripes
COLOURS = ("#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7")
STRIPES = 4
IN_LEGEND = 40
POOL_STYLE = (
    "".join(f".rv .o{i}{{fill:{colour}}}" for i, colour in enumerate(COLOURS))
    + ".rv .pg rect,.rv .free.k rect{stroke:var(--line)}.rv .free rect{fill:none}.rv .cache{fill:#999}"
    ".rv .pg .w{fill:#000;font-weight:600;paint-order:stroke;stroke:#fff;stroke-opacity:.7;stroke-width:2px}"
    ".rv .pg text{fill:#000}.rv .pg.free .n{fill:var(--dim)}.rv .n{font-size:8px}"
    ".rv .new rect,.rv .new.k rect{stroke:var(--fg);stroke-width:2.5}.rv .pg.new.free rect{stroke-dasharray:4 2}"
    ".rv .h{display:none;stroke:#000;stroke-opacity:.5;stroke-width:1.5;fill:none}"
    ".rv .h1 .h,.rv .h2 .h,.rv .h3 .h{display:inline}.rv .h2 .h{stroke-dasharray:2 3}.rv .h3 .h{stroke-width:3.5}"
)


def owner_class(order: int) -> str:
    """The look of the request that was the `order`-th to get a page: a colour, and stripes after the seventh."""
    stripes = order // len(COLOURS) % STRIPES
    return f"o{order % len(COLOURS)}" + (f" h{stripes}" if stripes else "")


class PoolMap:
    """The pool as a grid of pages, each in the colour of the request that holds it, and below it how many pages
    each request held after every round.

    A page with a thick border changed hands in the round that is shown. A picture, in an untrusted notebook too, that
    its own script turns into a player: play, step, slide, hover, arrow keys. Equal traces give equal bytes.

    trace: `minisgl_lite.trace.Round` records or mappings with `page_events`, from the first round of the pool on.
    num_pages: pages of the pool. names: uid -> name. Raises ValueError for a page that the pool does not have.
    """

    def __init__(self, trace: Iterable[Any], num_pages: int, names: Mapping[int, str] | None = None) -> None:
        self.history = page_history(trace, num_pages, names)

    def to_svg(self, at: int | None = None) -> str:
        """The map after the `at`-th round of the trace (default: the first in which the pool is fullest)."""
        return draw_pool(self.history, self.history.fullest if at is None else at)

    def _repr_html_(self) -> str:
        alt = f"{self!r}. Trust the notebook or run the cell to step through it."
        return player(self.to_svg(), alt, paint="pool.js")

    def __repr__(self) -> str:
        history = self.history
        users, rounds = counted(len(history.uids), "request"), counted(len(history.frames), "round")
        return f"PoolMap({counted(history.num_pages, 'page')}, {rounds}, {users})"


def draw_pool(history: PageHistory, at: int) -> str:
    """One SVG: the pages after frame `at`, the pages held over all frames, the colours."""
    width = max(WIDTH, LEFT + COLUMN * len(history.frames) + 8)
    grid, height = _grid(history, at)
    y = 26 + height + 14
    bars = _bars(history, y, width) if history.frames else ""
    y += TALL + 26 if history.frames else 0
    legend, tall = _legend(history, y)
    heads = [[frame.index, _head(history, k)] for k, frame in enumerate(history.frames)]
    looks = [[owner_class(i), _short(history, uid), history.name(uid)] for i, uid in enumerate(history.uids)]
    data = f"data-owners='{_json(looks)}' data-rounds='{_json(heads)}'"
    data += f" data-start='{at}'" if history.frames else ""
    users, rounds = counted(len(history.uids), "request"), counted(len(history.frames), "round")
    label = f"{counted(history.num_pages, 'page')} of {users} over {rounds}"
    text = f"<text class='l head' x='8' y='17'>{escape(_head(history, at))}</text>"
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' class='rv' viewBox='0 0 {width} {y + tall}' width='{width}' "
        f"height='{y + tall}' role='img' aria-label='{label}' {data}><style>{STYLE}{POOL_STYLE}</style>{bars}"
        f"<g class='labels'>{text}{grid}{legend}</g></svg>"
    )


def _head(history: PageHistory, at: int) -> str:
    if not history.frames:
        return "no rounds"
    frame = history.frames[at]
    parts = [f"after round {frame.index}", frame.phase, f"{frame.held('free')} of {history.num_pages} pages free"]
    return " · ".join(part for part in [*parts, history.left_out] if part)


def _grid(history: PageHistory, at: int) -> tuple[str, int]:
    """The pages after frame `at`, each with all its changes for the player, and the height they take."""
    size, row = (36, 16) if history.num_pages <= 64 else (24, 24) if history.num_pages <= 256 else (14, 40)
    place = {uid: i for i, uid in enumerate(history.uids)}
    code = {"free": "f", "cache": "c"} | {uid: str(i) for uid, i in place.items()}
    stripes = "".join(f"M0 {d}L{d} 0" if d <= size else f"M{d - size} {size}L{size} {d - size}" for d in _steps(size))
    frame = history.frames[at] if history.frames else None
    parts = []
    for page, changes in enumerate(history.changes()):
        owner: Owner = frame.owners[page] if frame else "free"
        look = owner if isinstance(owner, str) else owner_class(place[owner])
        look += " new" if frame and page in frame.changed else ""
        cell = f"<rect x='1' y='1' width='{size - 2}' height='{size - 2}' rx='2'/>"
        if any(not isinstance(who, str) and place[who] >= len(COLOURS) for _, who in changes):
            cell += f"<path class='h' d='{stripes}'/>"
        word = "" if owner == "free" else "c" if owner == "cache" else _short(history, owner)
        move = f"translate({8 + page % row * size} {26 + page // row * size})"
        told = " ".join(f"{k}:{code[who]}" for k, who in changes)
        texts = _words(page, word, size)
        parts.append(f"<g class='pg {look}' data-h='{told}' transform='{move}'>{cell}{texts}</g>")
    return "".join(parts), size * -(-history.num_pages // row)


def _words(page: int, word: str, size: int) -> str:
    """What is written into a page: its number and its owner where there is room for both."""
    if size < 24:
        return ""
    number = f"<text class='n l' x='3' y='9'>{page}</text>" if size > 24 else ""
    small, y = ("", size // 2 + 8) if number else (" s", size // 2 + 4)
    return f"{number}<text class='w{small}' x='{size // 2}' y='{y}'>{escape(word)}</text>"


def _bars(history: PageHistory, y: int, width: int) -> str:
    base, tall = y + TALL, TALL + 24
    owners: list[tuple[Owner, str]] = [(uid, owner_class(i)) for i, uid in enumerate(history.uids)]
    owners.append(("cache", "cache"))
    parts = []
    for k, frame in enumerate(history.frames):
        x = LEFT + COLUMN * k
        parts.append(
            f"<g class='c' data-k='{k}'><title>{escape(frame.text)}</title>"
            f"<rect class='hit' x='{x}' y='{y - 4}' width='{COLUMN}' height='{tall}'/>"
            f"{_bar(frame, owners, x + 2, base)}"
            f"<text class='d s' x='{x + COLUMN // 2}' y='{base + 12}'>{frame.index}</text></g>"
        )
    axis = f"<path class='grid' d='M{LEFT} {y}H{width - 8}M{LEFT} {base}H{width - 8}'/>"
    labels = (
        f"<rect class='bg' x='0' y='{y - 4}' width='{LEFT - 4}' height='{tall}'/>"
        f"<text class='l d' x='8' y='{y + 8}'>{counted(history.num_pages, 'page')}</text>"
        f"<text class='l d' x='8' y='{base + 1}'>held</text><text class='l d' x='8' y='{base + 13}'>round</text>"
    )
    return f"{axis}{''.join(parts)}<g class='labels'>{labels}</g>"


def _bar(frame: Frame, owners: list[tuple[Owner, str]], x: int, base: int) -> str:
    """The pages held after one round, the requests on top of each other."""
    counts, below, parts = Counter(frame.owners), 0, []
    for owner, look in owners:
        if not (n := counts[owner]):
            continue
        top, low = (base - round(TALL * pages / len(frame.owners)) for pages in (below + n, below))
        below += n
        part = f"<rect x='{x}' y='{top}' width='{COLUMN - 4}' height='{low - top}'/>"
        if " h" in look:
            part += f"<path class='h' d='{''.join(f'M{x} {line}h{COLUMN - 4}' for line in range(top + 2, low, 4))}'/>"
        parts.append(f"<g class='{look} k'>{part}</g>")
    return "".join(parts)


def _legend(history: PageHistory, y: int) -> tuple[str, int]:
    """The colours, wrapped to the width of the map, and the height they take."""
    entries = [(owner_class(i), history.name(uid)) for i, uid in enumerate(history.uids[:IN_LEGEND])]
    if any("cache" in frame.owners for frame in history.frames):
        entries.append(("cache", "c in the prefix cache"))
    entries += [("free", "free"), ("free new", "changed hands in this round")]
    if len(history.uids) > IN_LEGEND:
        entries.append(("", f"and {len(history.uids) - IN_LEGEND} more"))
    parts, x, row = [], 8, 0
    for look, text in entries:
        wide = 34 + round(6.2 * sum(2 if ord(c) > 0x2E7F else 1 for c in text))
        if x > 8 and x + wide > WIDTH:
            x, row = 8, row + 1
        top = y + 18 * row
        mark = f"<rect x='{x}' y='{top}' width='18' height='12'/>" if look else ""
        mark += f"<path class='h' d='M{x} {top + 3}h18M{x} {top + 7}h18'/>" if " h" in look else ""
        label = f"<text class='l d' x='{x + 23}' y='{top + 10}'>{escape(text)}</text>"
        parts.append(f"<g class='{look} k'>{mark}</g>{label}")
        x += wide
    return "".join(parts), 18 * row + 22


def _short(history: PageHistory, uid: int) -> str:
    """A request's name as it fits into a page."""
    name = history.names.get(uid, str(uid))
    return name if len(name) <= 4 else name[:3] + "…"


def _steps(size: int) -> range:
    return range(size // 4, 2 * size, size // 4)


def _json(value: Any) -> str:
    return escape(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
