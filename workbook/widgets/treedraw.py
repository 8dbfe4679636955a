"""Draws the frames of a radix tree as one SVG. Equal frames give equal bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

from ..words import counted
from .chart import STYLE
from .pool import POOL_STYLE, owner_class
from .treefilm import Film, Frame, Place, Stretch

LEFT, TOP, CELL, ROW, LANE, BAR, TALL, WIDE = 76, 46, 26, 48, 30, 22, 60, 620
TREE_STYLE = (
    ".rv .off{display:none}.rv .nd{fill:none;stroke:var(--dim)}.rv .nd.lk{stroke:var(--fg);stroke-width:2.5}"
    ".rv .nd.free{stroke-dasharray:4 2}.rv .up{fill:none;stroke:var(--dim);stroke-width:1.5}"
    ".rv .cell text{fill:#000}.rv .cell .n{font-size:8px;text-anchor:start}.rv .own rect{opacity:.55}"
    ".rv .own .edge{opacity:1;fill:none;stroke:var(--fg);stroke-dasharray:2 2}.rv .cell.own text{fill:var(--fg)}"
    ".rv .lock{stroke:var(--fg);fill:none;stroke-width:1.5}.rv .lock .body{fill:var(--fg)}"
    ".rv .k1,.rv .k1 rect{fill:var(--fg);opacity:.75}.rv .k2,.rv .k2 rect{fill:var(--fg);opacity:.3}"
    ".rv .k3,.rv .k3 rect{fill:none;stroke:var(--fg);stroke-dasharray:2 2}"
)
LEGEND = (("k1", "cached, somebody reads it"), ("k2", "cached, can be evicted"), ("k3", "a request's own"))


class Drawing:
    """One SVG. `items` (a piece of the picture -> the frames that have it): what stays the same is drawn once."""

    def __init__(self, film: Film, names: Mapping[int, str], spell: Callable[[list[int]], str]) -> None:
        self.film, self.names, self.spell = film, names, spell
        self.items: dict[str, list[int]] = {}
        keys = {key for frame in film.frames for node in frame.nodes for key in node.keys}
        longest = max([4, *(len(spell(list(key)).strip()) for key in keys)])
        self.wide = min(72, 14 + 6 * longest)
        self.x: dict[int, int] = {}
        self.gaps: list[tuple[int, int]] = []  # (x, page index behind it)
        x = LEFT
        for i, column in enumerate(film.columns):
            if column is None:
                self.gaps.append((x, next(c for c in film.columns[i:] if c is not None)))
                x += 34
            else:
                self.x[column] = x
                x += self.wide
        self.right = x
        self.lanes = film.lanes()

    def _name(self, uid: int) -> str:
        return self.names.get(uid, f"req {uid}")

    def svg(self, at: int, label: str) -> str:
        """The frames, all but the `at`-th hidden; label: what the picture is, for those who do not see it."""
        lanes_top = TOP + ROW * max(1, self.film.rows) + 4
        bars_top = lanes_top + LANE * (max(self.lanes.values(), default=-1) + 1) + 22
        for k, frame in enumerate(self.film.frames):
            self._head(k, frame)
            for number, node in enumerate(frame.nodes):
                self._node(k, frame, node, self.film.places[k][number])
            self._readers(k, frame, lanes_top)
        width = max(WIDE, self.right + 12, LEFT + BAR * len(self.film.frames) + 8)
        legend, tall = self._legend(bars_top + TALL + 24, width)
        height = bars_top + TALL + 24 + tall
        parts = [_piece(text, frames, at) for text, frames in self.items.items()]
        start = f" data-start='{at}'" if self.film.frames else ""
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' class='rv' viewBox='0 0 {width} {height}' width='{width}' "
            f"height='{height}' role='img' aria-label='{escape(label)}'{start}>"
            f"<style>{STYLE}{POOL_STYLE}{TREE_STYLE}</style>{''.join(parts)}"
            f"{self._bars(bars_top)}{legend}</svg>"
        )

    def _put(self, k: int, text: str) -> None:
        self.items.setdefault(text, []).append(k)

    def _head(self, k: int, frame: Frame) -> None:
        locked, idle = frame.count(True), frame.count(False)
        counts = f"{counted(locked + idle, 'page')} cached: {locked} locked, {idle} can be evicted"
        counts += "" if frame.free is None else f" · {frame.own} held by one request · {frame.free} free"
        counts = " · ".join(filter(None, (counts, self.film.left_out)))
        self._put(k, f"<text class='l t' x='8' y='16'>{escape(frame.text or f'step {k + 1}')}</text>")
        self._put(k, f"<text class='l d' x='8' y='32'>{escape(counts)}</text>")

    def _node(self, k: int, frame: Frame, node: Stretch, places: tuple[Place, ...]) -> None:
        row = places[0].row
        if row >= self.film.rows:
            return
        y = TOP + ROW * row
        x, end = self.x[node.first], self.x[node.end - 1] + self.wide
        if node.parent >= 0 and (above := self.film.places[k][node.parent][-1]).row != row:
            self._put(k, f"<path class='up' d='M{x - 3} {TOP + ROW * above.row + CELL + 2}V{y + CELL // 2}H{x + 1}'/>")
        for key, page, place in zip(node.keys, node.pages, places, strict=True):
            if place.column in self.x:
                self._cell(k, self.x[place.column], y, page, self._look(k, page), self.spell(list(key)).strip())
        for gap, behind in self.gaps:
            if node.first < behind < node.end:
                self._put(k, f"<text class='d' x='{gap + 17}' y='{y + 17}'>⋯</text>")
        who = [self._name(reader.uid) for reader in frame.readers if set(node.pages) & set(reader.pages)]
        kind, label = self._state(frame, node, who, x, y + CELL + 11)
        box = f"<rect class='nd {kind}' x='{x + 1}' y='{y - 2}' width='{end - x - 2}' height='{CELL + 4}' rx='4'/>"
        self._put(k, box + label)

    def _state(self, frame: Frame, node: Stretch, who: list[str], x: int, y: int) -> tuple[str, str]:
        """How a node's border looks, and what stands below it."""
        if node.locks:
            count = f"{node.locks} lock{'s' if node.locks > 1 else ''}"
            text = escape(", ".join(who) or count)
            lock = f"<path d='M{x + 6} {y - 4}v-3a2.5 2.5 0 0 1 5 0v3'/><rect class='body' x='{x + 4}' y='{y - 5}'"
            lock = f"<g class='lock'>{lock} width='9' height='6' rx='1'/></g>"
            return "lk", f"{lock}<text class='l s' x='{x + 17}' y='{y}'>{text}</text>"
        if not node.leaf:
            return "", f"<text class='l s d' x='{x + 4}' y='{y}'>age {node.age}</text>"
        oldest = max(other.age for other in frame.nodes if other.leaf and not other.locks)
        text = f"age {node.age}" + (", next to go" if node.age == oldest else "")
        return "free", f"<text class='l s' x='{x + 4}' y='{y}'>{text}</text>"

    def _look(self, k: int, page: int) -> str:
        uid = self.film.origin[k].get(page)
        return "cache" if uid is None else owner_class(self.film.uids.index(uid))

    def _cell(self, k: int, x: int, y: int, page: int, look: str, word: str, own: bool = False) -> None:
        fits = max(1, (self.wide - 8) // 6)
        word = word if len(word) <= fits else word[: fits - 1] + "…"
        tall = 20 if own or not word else CELL - 2
        box = f"x='{x + 3}' y='{y + 1}' width='{self.wide - 6}' height='{tall}' rx='2'"
        edge = f"<rect class='edge' {box}/>" if own else ""
        number = f"<text class='n' x='{x + 5}' y='{y + 9}'>{page}</text>"
        text = f"<text x='{x + self.wide // 2}' y='{y + 20}'>{escape(word)}</text>" if word else ""
        stripes = f"<path class='h' d='M{x + 4} {y + 6}h{self.wide - 8}m0 6H{x + 4}m0 6h{self.wide - 8}'/>"
        stripes = stripes if " h" in look else ""
        kind = "cell own" if own else "cell"
        self._put(k, f"<g class='{kind} {look} k'><rect {box}/>{stripes}{edge}{number}{text}</g>")

    def _readers(self, k: int, frame: Frame, top: int) -> None:
        for reader in frame.readers:
            y = top + LANE * self.lanes[reader.uid]
            self._put(k, f"<text class='l' x='8' y='{y + 14}'>{escape(self._name(reader.uid))}</text>")
            for column, page in enumerate(reader.pages):
                if column in self.x:
                    own = column >= reader.shared
                    self._cell(k, self.x[column], y, page, self._look(k, page), "", own)
            for gap, behind in self.gaps:
                if behind < len(reader.pages):
                    self._put(k, f"<text class='d' x='{gap + 17}' y='{y + 14}'>⋯</text>")

    def _bars(self, top: int) -> str:
        base, parts = top + TALL, []
        sizes = [(f.count(True), f.count(False), f.own) for f in self.film.frames]
        most = max([1, *(sum(size) + (f.free or 0) for size, f in zip(sizes, self.film.frames, strict=True))])
        for k, (frame, size) in enumerate(zip(self.film.frames, sizes, strict=True)):
            x, y, bars = LEFT + BAR * k, base, ""
            for look, pages in zip(("k1", "k2", "k3"), size, strict=True):
                tall = round(TALL * pages / most)
                y -= tall
                bars += f"<rect class='{look}' x='{x + 2}' y='{y}' width='{BAR - 4}' height='{tall}'/>" if tall else ""
            parts.append(
                f"<g class='c' data-k='{k}'><title>{escape(self._sentence(k, frame))}</title><rect class='hit' x='{x}' "
                f"y='{top - 4}' width='{BAR}' height='{TALL + 24}'/>{bars}"
                f"<text class='d s' x='{x + BAR // 2}' y='{base + 12}'>{k + 1}</text></g>"
            )
        axis = f"<path class='grid' d='M{LEFT} {top}H{self.right}M{LEFT} {base}H{self.right}'/>"
        labels = f"<text class='l d' x='8' y='{top + 8}'>{most} pages</text>"
        return f"{axis}{''.join(parts)}{labels}<text class='l d' x='8' y='{base + 12}'>step</text>"

    def _sentence(self, k: int, frame: Frame) -> str:
        parts = [f"Step {k + 1}: {frame.text}" if frame.text else f"Step {k + 1}"]
        for reader in frame.readers:
            pages = counted(len(reader.pages), "page")
            parts.append(f"{self._name(reader.uid)} reads {pages}, {reader.shared} of them shared")
        return " · ".join(parts)

    def _legend(self, y: int, width: int) -> tuple[str, int]:
        """The looks, wrapped to the width, and the height they take."""
        entries = [*LEGEND, *((owner_class(i), self._name(uid)) for i, uid in enumerate(self.film.uids[:20]))]
        parts, x, row = [], 8, 0
        for look, text in entries:
            wide = 32 + 6 * len(text)
            if x + wide > width:
                x, row = 8, row + 1
            top = y + 18 * row
            parts.append(f"<g class='{look} k'><rect x='{x}' y='{top}' width='14' height='12'/></g>")
            parts.append(f"<text class='l d' x='{x + 18}' y='{top + 10}'>{escape(text)}</text>")
            x += wide
        return "".join(parts), 18 * row + 20


def _piece(text: str, frames: list[int], at: int) -> str:
    """A piece of the picture with the frames that show it, neighbours joined: `0-3 7`."""
    spans: list[list[int]] = []
    for k in dict.fromkeys(frames):
        if spans and k == spans[-1][1] + 1:
            spans[-1][1] = k
        else:
            spans.append([k, k])
    when = " ".join(f"{a}-{b}" if a < b else f"{a}" for a, b in spans)
    off = "" if at in frames else " class='off'"
    return f"<g data-f='{when}'{off}>{text}</g>"
