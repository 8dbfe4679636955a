"""RoundViewer: the rounds of an engine as a chart that can be stepped through, in a notebook and on the site."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .chart import draw
from .timeline import Timeline, timeline

_HERE = Path(__file__).parent
# characters that may stand as they are in a double-quoted attribute and in a data address
_PLAIN = " <>=/:;,'()!*.-_{}@|"


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
        svg = self.to_svg()
        uid = "rv" + hashlib.sha256(svg.encode()).hexdigest()[:12]
        alt = f"{self!r}. Trust the notebook or run the cell to step through it."
        script = (_HERE / "rounds.js").read_text(encoding="utf-8").strip()
        style = (_HERE / "rounds.css").read_text(encoding="utf-8").strip()
        return (
            f'<div id="{uid}" class="round-viewer" data-lm-suppress-shortcuts="true">'
            f'<img alt="{escape(alt)}" src="data:image/svg+xml;charset=utf-8,{quote(svg, safe=_PLAIN)}"></div>\n'
            f"<script>\n({script})({json.dumps(uid)}, {json.dumps(style)});\n</script>"
        )

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(t.columns)} rounds of {len(t.uids)} requests" for _, t in self.panels)
        return f"{type(self).__name__}({counts})"


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
