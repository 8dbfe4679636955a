"""Draws timelines as one SVG: a row a request, a column a round, counters below. Equal input gives equal bytes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..words import counted
from .timeline import Cell, State, Timeline

COLUMN, ROW, LANE, HEAD = 34, 22, 30, 34
PAGE, NARROWEST = 940, 10
"""Columns get narrower, down to the narrowest, where there are more of them than a page of a notebook is wide."""
LETTER, ROOMY = 12, 28
"""Columns from so wide on hold a letter, and the number of tokens beside it."""
LANES = {"waiting": "waiting", "free_slots": "free rows", "free_pages": "free pages", "evictable_pages": "evictable"}
LEGEND: tuple[tuple[State, str], ...] = (
    ("prefill", "P prefill, tokens"),
    ("decode", "D decode"),
    ("held", "running, not in this batch"),
    ("waiting", "waiting"),
    ("padding", "row kept for nothing"),
)
# Okabe and Ito's colours: told apart with any kind of colour vision, and on a light and a dark ground
STYLE = (
    ".rv{--fg:#24292f;--dim:#6e7781;--line:#d0d7de;--bg:#fff;background:var(--bg);font:11px system-ui,sans-serif}"
    "@media(prefers-color-scheme:dark){.rv{--fg:#e6edf3;--dim:#9198a1;--line:#3d444d;--bg:#1c2128}}"
    ".rv text{fill:var(--fg);text-anchor:middle}.rv .l{text-anchor:start}.rv .d{fill:var(--dim)}.rv .t{font-weight:600}"
    ".rv .on{fill:#000;font-weight:600}.rv .s{font-size:9px}"
    ".rv .bg{fill:var(--bg)}.rv .grid{stroke:var(--line);fill:none}"
    ".rv .prefill{fill:#e69f00}.rv .decode{fill:#56b4e9}.rv .bar{fill:#009e73;opacity:.55}"
    ".rv .padding{fill:none;stroke:#d55e00;stroke-width:1.5;stroke-dasharray:3 2}"
    ".rv .held{stroke:#56b4e9;stroke-width:3;fill:none}"
    ".rv .waiting{stroke:var(--dim);stroke-width:12;stroke-dasharray:2 4;opacity:.6;fill:none}"
    ".rv .end{stroke:#d55e00;stroke-width:4;fill:none}.rv .hit{fill:transparent}"
)


def draw(panels: Sequence[tuple[str, Timeline]]) -> str:
    """One SVG with a chart for each (title, timeline), below each other on a common axis of rounds.

    Column k of each panel is `<g class="c" data-k="k">` and holds the round as a sentence in its `<title>`.
    """
    left = 24 + max([70, *(int(6.5 * _width(lines.name(uid))) for _, lines in panels for uid in lines.uids)])
    columns = max([1, *(len(lines.columns) for _, lines in panels)])
    step = max(NARROWEST, min(COLUMN, (PAGE - left - 8) // columns))
    width = max(left + step * columns + 8, 620)
    parts, y = [], 4
    for title, lines in panels:
        drawn, height = _panel(title, lines, left, y, width, step)
        parts.append(drawn)
        y += height + 10
    parts.append(_legend(y, [cell for _, lines in panels for column in lines.columns for cell in column.cells]))
    label = "; ".join(filter(None, (_summary(title, lines) for title, lines in panels)))
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' class='rv' viewBox='0 0 {width} {y + 26}' width='{width}' "
        f"height='{y + 26}' role='img' aria-label='{escape(label)}'><style>{STYLE}</style>{''.join(parts)}</svg>"
    )


def _panel(title: str, lines: Timeline, left: int, y: int, width: int, step: int) -> tuple[str, int]:
    lanes = [n for n in LANES if any(c.counters.get(n) for c in lines.columns)]
    top = y + (22 if title or lines.left_out else 0)
    rows_end = top + HEAD + ROW * len(lines.uids)
    end = rows_end + 6 + LANE * len(lanes)
    grid = "".join(f"M{left} {top + HEAD + ROW * i}H{width - 8}" for i in range(len(lines.uids) + 1))
    parts = [f"<path class='grid' d='{grid}'/>"]
    for k, column in enumerate(lines.columns):
        x = left + step * k
        cells = "".join(_cell(c, x, top + HEAD + ROW * lines.uids.index(c.uid), step) for c in column.cells)
        number = str(column.index) if _has_text(k, str(lines.columns[-1].index), step) else ""
        phase = column.phase[:1].upper() if step >= LETTER else ""
        parts.append(
            f"<g class='c' data-k='{k}'><title>{escape(column.text)}</title>"
            f"<rect class='hit' x='{x}' y='{top}' width='{step}' height='{end - top}'/>"
            f"<text class='d' x='{x + step // 2}' y='{top + 12}'>{number}</text>"
            f"<text class='t' x='{x + step // 2}' y='{top + 27}'>{escape(phase)}</text>"
            f"{cells}{_counters(k, lines, lanes, x, rows_end + 6, step)}</g>"
        )
    labels = [
        f"<rect class='bg' x='0' y='{top}' width='{left - 4}' height='{end - top}'/>",
        _label("round", top + 12, "l d"),
    ]
    labels += [_label(lines.name(uid), top + HEAD + ROW * i + 15, "l") for i, uid in enumerate(lines.uids)]
    labels += [_label(LANES[n], rows_end + 6 + LANE * i + 24, "l d") for i, n in enumerate(lanes)]
    head = (f"<tspan class='t'>{escape(title)}</tspan> " if title else "") + escape(lines.left_out)
    if head:
        labels.append(f"<text class='l' x='8' y='{y + 13}'>{head}</text>")
    return "".join(parts) + f"<g class='labels'>{''.join(labels)}</g>", end - y


def _has_text(k: int, longest: str, step: int) -> bool:
    """Whether column k says its number: each one where the longest fits with a gap beside it, else every fifth."""
    return k % (1 if 7 * len(longest) + 6 <= step else 5) == 0


def _cell(cell: Cell, x: int, y: int, step: int) -> str:
    shape, middle = "", y + ROW // 2
    if cell.state in ("prefill", "decode", "padding"):
        shape = f"<rect class='{cell.state}' x='{x + 1}' y='{y + 2}' width='{step - 2}' height='{ROW - 4}' rx='3'/>"
    elif cell.state in ("held", "waiting"):
        shape = f"<path class='{cell.state}' d='M{x + 2} {middle}h{step - 4}'/>"
    if cell.state in ("prefill", "decode") and step >= LETTER:
        letter = f"P {cell.tokens}" if cell.state == "prefill" else "D" if cell.tokens == 1 else f"D {cell.tokens}"
        letter = letter if step >= ROOMY else letter[0]
        small = " s" if len(letter) > 4 or step < 18 else ""
        shape += f"<text class='on{small}' x='{x + step // 2}' y='{middle + 4}'>{letter}</text>"
    if cell.ends == "abort":
        return shape + f"<path class='end' d='M{x + (step - 12) // 2} {middle - 6}l12 12m-12 0l12 -12'/>"
    return shape + (f"<path class='end' d='M{x + step - 2} {y + 1}v{ROW - 2}'/>" if cell.ends else "")


def _counters(k: int, lines: Timeline, lanes: list[str], x: int, y: int, step: int) -> str:
    parts = []
    for i, name in enumerate(lanes):
        if (value := lines.columns[k].counters.get(name)) is None:
            continue
        most = max(c.counters.get(name, 0) for c in lines.columns)
        tall, base = round(16 * value / most), y + LANE * (i + 1) - 2
        edge = 4 if step >= ROOMY else 1
        parts.append(f"<rect class='bar' x='{x + edge}' y='{base - tall}' width='{step - 2 * edge}' height='{tall}'/>")
        if _has_text(k, str(most), step):
            # what stands left of the first column is covered by the labels
            middle = x + max(step // 2, 0 if k else 3 * len(str(value)) + 1)
            parts.append(f"<text class='d' x='{middle}' y='{base - tall - 2}'>{value}</text>")
    return "".join(parts)


def _label(text: str, y: int, kind: str) -> str:
    return f"<text class='{kind}' x='8' y='{y}'>{escape(text)}</text>"


def _legend(y: int, cells: Sequence[Cell]) -> str:
    """What the marks mean; padding and the cross of an abort only where there are such cells."""
    parts, x = [], 8
    for state, text in LEGEND:
        if state == "padding" and not any(cell.state == state for cell in cells):
            continue
        line = state in ("held", "waiting")
        mark = (
            f"path class='{state}' d='M{x} {y + 9}h18'"
            if line
            else f"rect class='{state}' x='{x}' y='{y + 3}' width='18' height='12'"
        )
        parts.append(f"<{mark}/><text class='l d' x='{x + 23}' y='{y + 13}'>{text}</text>")
        x += 34 + 6 * len(text)
    parts.append(f"<path class='end' d='M{x + 2} {y + 2}v14'/>")
    parts.append(f"<text class='l d' x='{x + 9}' y='{y + 13}'>finished</text>")
    if any(cell.ends == "abort" for cell in cells):
        cross = f"<path class='end' d='M{x + 70} {y + 3}l12 12m-12 0l12 -12'/>"
        parts.append(f"{cross}<text class='l d' x='{x + 87}' y='{y + 13}'>aborted</text>")
    return f"<g class='labels legend'>{''.join(parts)}</g>"


def _summary(title: str, lines: Timeline) -> str:
    rounds, requests = len(lines.columns), len(lines.uids)
    return f"{title + ': ' if title else ''}{counted(requests, 'request')} over {counted(rounds, 'round')}"


def _width(text: str) -> int:
    """Columns that a text takes; a wide character takes two."""
    return sum(2 if ord(c) > 0x2E7F else 1 for c in text)
