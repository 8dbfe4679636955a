"""RoundViewer: the rounds of an engine as a chart that can be stepped through, in a notebook and on the site."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..words import counted
from .chart import draw
from .player import player
from .timeline import Timeline, timeline


class Chart:
    """One or more timelines on a common axis of rounds.

    In a notebook it is a picture (an image, which also an untrusted notebook shows) that its own script turns into a
    player: play, step, slide, hover, arrow keys. It asks nothing of a kernel or a network, and the same schedule gives
    the same bytes, times or not.
    """

    def __init__(self, panels: Iterable[tuple[str, Timeline]]) -> None:
        self.panels = tuple(panels)

    def to_svg(self) -> str:
        """The whole chart as a picture on its own, light or dark as the reader's system is."""
        return draw(self.panels)

    def _repr_html_(self) -> str:
        alt = f"{self!r}. Trust the notebook or run the cell to step through it."
        return player(self.to_svg(), alt)

    def __repr__(self) -> str:
        counts = (f"{counted(len(t.columns), 'round')} of {counted(len(t.uids), 'request')}" for _, t in self.panels)
        return f"{type(self).__name__}({', '.join(counts)})"


class RoundViewer(Chart):
    """The rounds of one trace: a row a request, a column a round, counters below.

    trace: `minisgl_lite.trace.Round` records or mappings with the same fields (see `timeline`). names: uid -> name.
    """

    def __init__(self, trace: Iterable[Any], names: Mapping[int, str] | None = None) -> None:
        super().__init__([("", timeline(trace, names))])


def side_by_side(
    a: Iterable[Any],
    b: Iterable[Any],
    titles: tuple[str, str] = ("static", "continuous"),
    names: Mapping[int, str] | None = None,
) -> Chart:
    """Two traces under each other, round over round."""
    return Chart([(titles[0], timeline(a, names)), (titles[1], timeline(b, names))])
