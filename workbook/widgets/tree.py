"""TreeViewer: the radix tree of cached pages, step by step, in a notebook and on the site."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ..words import counted
from .player import player
from .treedraw import Drawing
from .treefilm import Frame, film


class TreeViewer:
    """The radix tree as text that runs from left to right: what texts have in common is drawn, and stored, once.

    A column is a page of the text, a box a node, a cell a page with its number and its tokens, in the colour of the
    request that computed it. A thick border: locked, and by whom; dashed: a leaf that can be evicted, and its age in
    matches. Below, a line for each running request: the pages it reads, its own with a dotted border.
    A picture, in an untrusted notebook too, that its own script turns into a player: play, step, slide, arrow keys.

    frames: what `snapshot` returned, in order. names: uid -> name. spell: token ids -> text; without it, the ids.
    """

    def __init__(
        self,
        frames: Iterable[Frame],
        names: Mapping[int, str] | None = None,
        spell: Callable[[list[int]], str] | None = None,
    ) -> None:
        self.film = film(frames)
        self.names = dict(names or {})
        self.spell = spell or (lambda ids: " ".join(map(str, ids)))

    def to_svg(self, at: int | None = None) -> str:
        """The tree in the `at`-th frame (default: the first with the most locked pages), and all others, hidden."""
        return Drawing(self.film, self.names, self.spell).svg(self.film.fullest if at is None else at, repr(self))

    def _repr_html_(self) -> str:
        alt = f"{self!r}. Trust the notebook or run the cell to step through it."
        return player(self.to_svg(), alt, paint="tree.js")

    def __repr__(self) -> str:
        return f"TreeViewer({counted(len(self.film.frames), 'step')}, {counted(len(self.film.uids), 'request')})"
