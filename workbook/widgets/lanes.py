"""LaneViewer: what the host and the device did when, as two lanes a run, in a notebook and on the site."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

from ..words import counted
from .chart import STYLE
from .player import player
from .timeline import read_field

Span = tuple[float, float]
PARTS = ("launch", "device", "wait", "settle")
MAX_ROUNDS = 60
LEFT, WIDTH, LANE, GAP = 74, 860, 30, 8
LANE_STYLE = (
    ".rv .launch{fill:#009e73}.rv .settle{fill:#cc79a7}.rv .wait{fill:none;stroke:var(--dim);stroke-dasharray:2 2}"
    ".rv .idle{fill:#d55e00;opacity:.75}.rv .tie{stroke:var(--dim);fill:none;opacity:.6}"
    ".rv .launch,.rv .settle,.rv .prefill,.rv .decode{stroke:var(--bg);stroke-width:.5}.rv .hit{pointer-events:none}"
)
LEGEND = (
    ("launch", "plan and launch"),
    ("settle", "settle"),
    ("wait", "wait for tokens"),
    ("prefill", "prefill"),
    ("decode", "decode"),
    ("idle", "device idle"),
)


@dataclass(frozen=True)
class Bars:
    """One round: its number, phase, number of entries, and when each of its parts began and ended, in seconds."""

    index: int
    phase: str
    entries: int
    launch: Span
    device: Span
    wait: Span
    settle: Span


def read_lanes(lanes: Iterable[Any]) -> list[Bars]:
    """`minisgl_lite.engine.lanes.Lane` records or mappings with the same fields, in launch order; the first 60 rounds.

    Raises ValueError for a span that ends before it begins.
    """
    bars: list[Bars] = []
    for lane in list(lanes)[:MAX_ROUNDS]:
        spans = {part: tuple(read_field(lane, part, ())) for part in PARTS}
        index = int(read_field(lane, "index", len(bars)))
        for part, span in spans.items():
            if len(span) != 2 or span[0] > span[1]:
                raise ValueError(f"round {index}: {part} is {span!r}; it must be (start, end)")
        phase = str(read_field(lane, "phase", "decode"))
        bars.append(Bars(index, phase, len(read_field(lane, "uids", ())), **spans))
    return bars


class LaneViewer:
    """Runs under each other on one axis of time: a lane for the host, a lane for the device, the device's gaps marked.

    A picture, in an untrusted notebook too, that its own script turns into a player. Equal lanes give equal bytes.

    panels: (title, lanes) for each run; lanes as `read_lanes` takes them, from `TwoClockEngine.lanes` or from what
    `benchmarks/overlap.py --record` wrote (`run["rounds"]`). unit: what a second is called ("s", or "ms" and times a
    thousand).
    """

    def __init__(self, *panels: tuple[str, Iterable[Any]], unit: str = "s") -> None:
        if unit not in ("s", "ms"):
            raise ValueError(f"unit is {unit!r}; it must be 's' or 'ms'")
        self.panels = [(title, read_lanes(lanes)) for title, lanes in panels]
        self.unit = unit

    def to_svg(self) -> str:
        """The picture on its own, light or dark as the reader's system is."""
        return draw_lanes(self.panels, self.unit)

    def _repr_html_(self) -> str:
        return player(self.to_svg(), f"{self!r}. Trust the notebook or run the cell to step through it.")

    def __repr__(self) -> str:
        counts = "; ".join(_summary(title, bars, self.unit) for title, bars in self.panels)
        return f"LaneViewer({counts})"


def idle_gaps(bars: Sequence[Bars]) -> list[Span]:
    """Where the device had nothing to do between two of its rounds."""
    return [(a.device[1], b.device[0]) for a, b in pairwise(bars) if b.device[0] > a.device[1]]


def draw_lanes(panels: Sequence[tuple[str, Sequence[Bars]]], unit: str) -> str:
    """One SVG. Round k of each panel is `<g class="c" data-k="k">`, with the round as a sentence in its `<title>`."""
    longest = max((_end(bars) - _begin(bars) for _, bars in panels), default=0.0)
    scale = (WIDTH - LEFT - 12) / (longest or 1)
    parts, y = [], 4
    for title, bars in panels:
        parts.append(_panel(title, bars, y, scale, unit))
        y += 22 + 2 * LANE + GAP + 12
    parts.append(_legend(y))
    label = escape("; ".join(_summary(title, bars, unit) for title, bars in panels))
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' class='rv' viewBox='0 0 {WIDTH} {y + 26}' width='{WIDTH}' "
        f"height='{y + 26}' role='img' aria-label='{label}'><style>{STYLE}{LANE_STYLE}</style>{''.join(parts)}</svg>"
    )


def _panel(title: str, bars: Sequence[Bars], y: int, scale: float, unit: str) -> str:
    host, device, zero = y + 22, y + 22 + LANE + GAP, _begin(bars)

    def rect(look: str, span: Span, top: int, tall: int = LANE) -> str:
        x, wide = LEFT + (span[0] - zero) * scale, (span[1] - span[0]) * scale
        return f"<rect class='{look}' x='{x:.2f}' y='{top}' width='{wide:.2f}' height='{tall}'/>" if wide > 0 else ""

    parts = [f"<path class='grid' d='M{LEFT} {host}H{WIDTH - 8}M{LEFT} {device + LANE}H{WIDTH - 8}'/>"]
    for k, bar in enumerate(bars):
        look = "prefill" if bar.phase == "prefill" else "decode"
        shapes = rect("launch", bar.launch, host) + rect("wait", bar.wait, host + 8, LANE - 16)
        shapes += rect("settle", bar.settle, host) + rect(look, bar.device, device)
        middle = LEFT + (sum(bar.device) / 2 - zero) * scale
        if (bar.device[1] - bar.device[0]) * scale > 14:
            shapes += f"<text class='on' x='{middle:.2f}' y='{device + 19}'>{bar.index}</text>"
        start, end = (LEFT + (at - zero) * scale for at in (bar.launch[1], bar.device[0]))
        tie = f"<path class='tie' d='M{start:.2f} {host + LANE}L{end:.2f} {device}'/>"
        parts.append(f"<g class='c' data-k='{k}'><title>{_sentence(bar, zero, unit)}</title>{shapes}{tie}</g>")
    parts += [rect("idle", gap, device + LANE - 6, 6) for gap in idle_gaps(bars)]
    head = f"<tspan class='t'>{escape(title)}</tspan> {_idle(bars)}"
    labels = f"<text class='l' x='8' y='{y + 14}'>{head}</text>"
    labels += (
        f"<text class='l d' x='8' y='{host + 19}'>host</text><text class='l d' x='8' y='{device + 19}'>device</text>"
    )
    return "".join(parts) + f"<g class='labels'>{labels}</g>"


def _legend(y: int) -> str:
    parts, x = [], 8
    for look, text in LEGEND:
        parts.append(f"<rect class='{look}' x='{x}' y='{y + 3}' width='18' height='12'/>")
        parts.append(f"<text class='l d' x='{x + 23}' y='{y + 13}'>{text}</text>")
        x += 40 + 6 * len(text)
    return "".join(parts)


def _begin(bars: Sequence[Bars]) -> float:
    return min((bar.launch[0] for bar in bars), default=0.0)


def _end(bars: Sequence[Bars]) -> float:
    return max((max(bar.settle[1], bar.device[1]) for bar in bars), default=0.0)


def _idle(bars: Sequence[Bars]) -> str:
    """The part of the time, from the device's first start to its last end, in which it waited for its next round."""
    if not bars:
        return "no rounds"
    total = bars[-1].device[1] - bars[0].device[0]
    share = sum(b - a for a, b in idle_gaps(bars)) / total if total else 0.0
    return f"device idle between rounds {share:.0%}"


def _sentence(bar: Bars, zero: float, unit: str) -> str:
    def told(span: Span) -> str:
        factor = 1000 if unit == "ms" else 1
        return f"{(span[0] - zero) * factor:.4g} to {(span[1] - zero) * factor:.4g} {unit}"

    times = " · ".join(f"{part} {told(getattr(bar, part))}" for part in PARTS)
    return escape(f"Round {bar.index}: {bar.phase} of {counted(bar.entries, 'request')} · {times}")


def _summary(title: str, bars: Sequence[Bars], unit: str) -> str:
    if not bars:
        return f"{title}: no rounds"
    time = (_end(bars) - _begin(bars)) * (1000 if unit == "ms" else 1)
    return f"{title}: {counted(len(bars), 'round')} in {time:.4g} {unit}, {_idle(bars)}"
