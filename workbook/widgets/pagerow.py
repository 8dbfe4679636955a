"""PageTableRow: one request's row of the page table, from its positions to pages and slots, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .chart import STYLE
from .player import player
from .pool import COLOURS

CELL, LEFT, TALL = 30, 96, 24
ROW_STYLE = (
    "".join(f".rv .p{i}{{fill:{colour}}}" for i, colour in enumerate(COLOURS))
    + ".rv .b{stroke:var(--bg)}.rv .on{paint-order:stroke;stroke:#fff;stroke-opacity:.7;stroke-width:2px}"
    ".rv .room{fill:none;stroke:var(--dim);stroke-dasharray:3 2}.rv .way{stroke:var(--dim);fill:none}"
    ".rv .mark{fill:none;stroke:var(--fg);stroke-width:2.5}.rv .way.mark{stroke-width:2}"
)


class PageTableRow:
    """Three lines under each other: the positions of a request, its row of the page table, and the slots of its pages.

    pages: the row, one page number for each `page_size` positions. positions: how many are stored; what is left of
    the last page is drawn as room. num_pages: draw the whole pool in the last line, instead of this request's pages
    in the row's order. mark: a position to follow through all three lines, with its arithmetic. name: of the request.
    Raises ValueError when the pages do not fit the positions, the pool or the mark.
    """

    def __init__(
        self,
        pages: Sequence[int],
        page_size: int,
        positions: int,
        *,
        num_pages: int | None = None,
        mark: int | None = None,
        name: str = "",
    ) -> None:
        if page_size < 1 or not 0 <= positions <= len(pages) * page_size:
            raise ValueError(f"{positions} positions do not fit {len(pages)} pages of {page_size}")
        if len(set(pages)) < len(pages) or any(page < 0 or page >= (num_pages or page + 1) for page in pages):
            raise ValueError(f"the row {list(pages)} is not made of different pages of the pool")
        if mark is not None and not 0 <= mark < positions:
            raise ValueError(f"position {mark} is marked; 0..{positions - 1} are stored")
        self.pages, self.page_size, self.positions = list(pages), page_size, positions
        self.mark, self.name = mark, name
        self.drawn = self.pages if num_pages is None else list(range(num_pages))

    def slot(self, position: int) -> int:
        """The slot that holds a position: `pages[position // page_size] * page_size + position % page_size`."""
        return self.pages[position // self.page_size] * self.page_size + position % self.page_size

    def to_svg(self) -> str:
        """The picture on its own, light or dark as the reader's system is."""
        block = CELL * self.page_size
        width = max(420, LEFT + (block + 8) * max(1, len(self.drawn)) + 8)
        head = f"<text class='l t' x='8' y='16'>{escape(self.name)}</text>" if self.name else ""
        y = 26 if self.name else 8
        text = self._arithmetic()
        foot = f"<text class='l' x='8' y='{y + 210}'>{escape(text)}</text>" if text else ""
        height = y + (222 if text else 196)
        names = (("positions", y + 30), ("page table row", y + 96), ("slots", y + 166))
        labels = "".join(f"<text class='l d' x='8' y='{at}'>{label}</text>" for label, at in names)
        alt = escape(f"{self!r} {text}".strip())
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' class='rv' viewBox='0 0 {width} {height}' width='{width}' "
            f"height='{height}' role='img' aria-label='{alt}'><style>{STYLE}{ROW_STYLE}</style>{head}{labels}"
            f"{self._ways(y)}{self._row(y)}{self._pool(y)}{foot}</svg>"
        )

    def _repr_html_(self) -> str:
        return player(self.to_svg(), repr(self))

    def __repr__(self) -> str:
        return f"PageTableRow(positions 0..{self.positions - 1} in pages {self.pages} of {self.page_size})"

    def _left(self, place: int) -> int:
        """Where the `place`-th page of a line begins."""
        return LEFT + (CELL * self.page_size + 8) * place

    def _ways(self, y: int) -> str:
        """From each entry of the row to its page below."""
        half, parts = CELL * self.page_size // 2, []
        for entry, page in enumerate(self.pages):
            a, b = self._left(entry) + half, self._left(self.drawn.index(page)) + half
            marked = " mark" if self.mark is not None and self.mark // self.page_size == entry else ""
            parts.append(f"<path class='way{marked}' d='M{a} {y + 38}V{y + 78}M{a} {y + 104}L{b} {y + 146}'/>")
        return "".join(parts)

    def _row(self, y: int) -> str:
        block, parts = CELL * self.page_size, []
        wide, word = (56, "page ") if block >= 56 else (CELL, "")
        for entry, page in enumerate(self.pages):
            x, colour = self._left(entry), f"p{entry % len(COLOURS)}"
            places = range(entry * self.page_size, (entry + 1) * self.page_size)
            cells = [(str(p) if p < self.positions else "", p == self.mark) for p in places]
            parts.append(self._cells(cells, x, y + 14, colour))
            middle = x + block // 2
            box = f"x='{middle - wide // 2}' y='{y + 78}' width='{wide}' height='26' rx='3'"
            parts.append(
                f"<text class='l d s' x='{middle + 4}' y='{y + 72}'>[{entry}]</text><rect class='b {colour}' {box}/>"
                f"<text class='on' x='{middle}' y='{y + 95}'>{word}{page}</text>"
            )
            parts.append(f"<rect class='mark' {box}/>" if self.mark in places else "")
        return "".join(parts)

    def _pool(self, y: int) -> str:
        parts, block = [], CELL * self.page_size
        for place, page in enumerate(self.drawn):
            x, first = self._left(place), page * self.page_size
            entry = self.pages.index(page) if page in self.pages else None
            used = 0 if entry is None else min(self.page_size, self.positions - entry * self.page_size)
            marked = None if self.mark is None else self.slot(self.mark)
            cells = [(str(first + i) if i < used else "", first + i == marked) for i in range(self.page_size)]
            parts.append(self._cells(cells, x, y + 150, "" if entry is None else f"p{entry % len(COLOURS)}"))
            parts.append(f"<text class='d s' x='{x + block // 2}' y='{y + 188}'>page {page}</text>")
        return "".join(parts)

    def _cells(self, cells: list[tuple[str, bool]], x: int, y: int, colour: str) -> str:
        """A page's places: filled with a number where something is stored, dashed where there is room."""
        parts, marks = [], ""
        for i, (text, marked) in enumerate(cells):
            left = x + CELL * i
            box = f"x='{left}' y='{y}' width='{CELL}' height='{TALL}' rx='2'"
            parts.append(f"<rect class='{f'b {colour}' if text else 'room' if colour else 'grid'}' {box}/>")
            parts.append(f"<text class='on' x='{left + CELL // 2}' y='{y + 16}'>{text}</text>" if text else "")
            marks += f"<rect class='mark' {box}/>" if marked else ""
        return "".join(parts) + marks

    def _arithmetic(self) -> str:
        if self.mark is None:
            return ""
        p, size = self.mark, self.page_size
        page = self.pages[p // size]
        return (
            f"position {p}: entry {p} // {size} = {p // size}, page {page}; offset {p} % {size} = {p % size}; "
            f"slot {page} × {size} + {p % size} = {self.slot(p)}"
        )
