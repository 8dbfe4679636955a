"""Pictures of a radix tree, taken one after the other, and where each cached page stands in all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

MAX_FRAMES = 200
MAX_ROWS = 64
KEEP = 2
"""Pages shown at either end of a long stretch; what lies between is left out."""


@dataclass(frozen=True)
class Stretch:
    """A node: its tokens, a page a tuple, their page numbers, and where it stands: index of its parent, or -1."""

    parent: int
    first: int
    keys: tuple[tuple[int, ...], ...]
    pages: tuple[int, ...]
    locks: int
    age: int
    leaf: bool

    @property
    def end(self) -> int:
        """The page index behind its last page."""
        return self.first + len(self.pages)


@dataclass(frozen=True)
class Reader:
    """A request with an account: its pages in position order, of which the first `shared` are the tree's."""

    uid: int
    pages: tuple[int, ...]
    shared: int


@dataclass(frozen=True)
class Frame:
    """The tree at one moment. free: free pages, or None without a pool. events: as `Round.page_events`."""

    text: str
    nodes: tuple[Stretch, ...]
    readers: tuple[Reader, ...]
    free: int | None
    events: tuple[tuple[int, Any], ...]

    def count(self, locked: bool) -> int:
        """Cached pages that somebody reads, or that nobody does."""
        return sum(len(node.pages) for node in self.nodes if bool(node.locks) is locked)

    @property
    def own(self) -> int:
        """Pages that belong to one request alone."""
        return sum(len(reader.pages) - reader.shared for reader in self.readers)


def snapshot(source: Any, text: str = "", events: Iterable[tuple[int, Any]] = ()) -> Frame:
    """Copy what a tree looks like now.

    source: a `RadixTree`, or a `PrefixCacheManager`, of whose accounts the readers are taken. text: what has just
    happened. events: the pages that changed hands since the frame before, as `Round.page_events` tells them.
    """
    tree = getattr(source, "tree", source)
    size, index = tree.page_size, {tree.root.serial: -1}
    nodes: list[Stretch] = []
    for node in tree.walk():  # a node comes before those below it
        parent = index[node.parent.serial]
        index[node.serial] = len(nodes)
        keys = tuple(tuple(node.key[i : i + size]) for i in range(0, len(node.key), size))
        first = nodes[parent].end if parent >= 0 else 0
        age = tree.clock - node.used
        nodes.append(Stretch(parent, first, keys, tuple(node.pages), node.locks, age, not node.children))
    readers, free = [], None
    if source is not tree:
        free = source.allocator.free
        for req in source.accounts.values():
            shared = len(req.pages) - len(source.private_pages(req))
            readers.append(Reader(req.uid, tuple(req.pages), shared))
    return Frame(text, tuple(nodes), tuple(readers), free, tuple(events))


@dataclass(eq=False)
class Place:
    """Where the page that ends one text is drawn, in whichever frames it is there. column: its index in the text."""

    column: int
    below: dict[tuple[int, ...], Place] = field(default_factory=dict)
    row: int = 0


@dataclass(frozen=True)
class Film:
    """Frames, ready to draw: nothing moves from one to the next.

    places: for each frame, for each of its nodes, the places of its pages. columns: page indices that are drawn, with
    None for a stretch that is left out. rows: how many. uids: who ever held a page, in order. origin: for each frame,
    page -> the request that computed it.
    """

    frames: tuple[Frame, ...]
    places: tuple[tuple[tuple[Place, ...], ...], ...]
    columns: tuple[int | None, ...]
    rows: int
    uids: tuple[int, ...]
    origin: tuple[dict[int, int], ...]
    left_out: str

    @property
    def fullest(self) -> int:
        """The first frame with the most locked pages, and of those with the most cached ones; 0 without any."""
        sizes = [(frame.count(True), frame.count(False)) for frame in self.frames]
        return max(range(len(sizes)), key=sizes.__getitem__, default=0)

    def lanes(self) -> dict[int, int]:
        """uid -> the line of a request that runs; one that starts later may have the line of one that has ended."""
        lanes: dict[int, int] = {}
        last: list[int] = []
        for uid in self.uids:
            frames = [k for k, frame in enumerate(self.frames) if any(r.uid == uid for r in frame.readers)]
            if frames:
                lanes[uid] = next((i for i, end in enumerate(last) if end < frames[0]), len(last))
                last[lanes[uid] : lanes[uid] + 1] = [frames[-1]]
        return lanes


def film(frames: Iterable[Frame]) -> Film:
    """Find a place for every page of every frame. The first 200 frames and 64 rows are drawn; `left_out` says so."""
    every = list(frames)
    shown = every[:MAX_FRAMES]
    root = Place(-1)
    places = tuple(_find(root, frame) for frame in shown)
    rows = _set_rows(root)
    order: dict[int, None] = {}
    origin = []
    known: dict[int, int] = {}
    for frame in shown:
        for page, owner in frame.events:
            if owner == "free":
                known.pop(page, None)
            elif owner != "cache":
                known[page] = owner
        known |= {page: reader.uid for reader in frame.readers for page in reader.pages[reader.shared :]}
        order |= dict.fromkeys([*known.values(), *(reader.uid for reader in frame.readers)])
        origin.append(dict(known))
    cut = [f"the first {MAX_FRAMES} of {len(every)} steps"] if len(every) > MAX_FRAMES else []
    cut += [f"the first {MAX_ROWS} of {rows} branches"] if rows > MAX_ROWS else []
    left_out = "shown: " + ", ".join(cut) if cut else ""
    return Film(tuple(shown), places, _columns(shown), min(rows, MAX_ROWS), tuple(order), tuple(origin), left_out)


def _find(root: Place, frame: Frame) -> tuple[tuple[Place, ...], ...]:
    found: list[tuple[Place, ...]] = []
    for node in frame.nodes:
        place, line = found[node.parent][-1] if node.parent >= 0 else root, []
        for key in node.keys:
            place = place.below.setdefault(key, Place(place.column + 1))
            line.append(place)
        found.append(tuple(line))
    return tuple(found)


def _set_rows(root: Place) -> int:
    """The first text behind a page goes on in its row; every other begins a new one, below all before it."""
    rows, todo = 0, [(place, True) for place in reversed(root.below.values())]
    while todo:
        place, new = todo.pop()
        rows += new
        place.row = rows - 1
        below = list(place.below.values())
        todo += [(other, True) for other in reversed(below[1:])]
        todo += [(first, False) for first in below[:1]]
    return rows


def _columns(frames: Sequence[Frame]) -> tuple[int | None, ...]:
    """The page indices at which something begins or ends in some frame, and their neighbours."""
    edges = {0}
    for frame in frames:
        for node in frame.nodes:
            edges |= {node.first, node.end}
        for reader in frame.readers:
            edges |= {reader.shared, len(reader.pages)}
    most = max(edges)
    kept = {i for edge in edges for i in range(edge - KEEP, edge + KEEP) if 0 <= i < most}
    out: list[int | None] = []
    for i in sorted(kept):
        last = out[-1] if out else i - 1
        if last is not None and i > last + 3:
            out.append(None)
        elif last is not None:  # one or two are not worth leaving out
            out += range(last + 1, i)
        out.append(i)
    return tuple(out)
