"""The tree viewer: what a snapshot copies, where pages are drawn, and that the picture needs nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from urllib.parse import unquote

from minisgl_lite.assembly import assemble_scheduler
from minisgl_lite.config import EngineConfig
from minisgl_lite.core import Req, SamplingParams
from minisgl_lite.engine.virtual import VirtualEngine
from minisgl_lite.kvcache.radix import RadixTree
from workbook.widgets.tree import TreeViewer
from workbook.widgets.treefilm import KEEP, MAX_FRAMES, MAX_ROWS, Frame, film, snapshot

SVG = "{http://www.w3.org/2000/svg}"
NAMES = {0: "A", 1: "B", 2: "C"}


def add(tree: RadixTree, ids: list[int], first: int) -> None:
    node, pages = tree.match(ids)
    rest = len(ids) // tree.page_size - len(pages)
    tree.insert(node, ids[len(pages) * tree.page_size :], list(range(first, first + rest)))


def three() -> list[Frame]:
    """1 2 3 4, then 1 2 5, then 6."""
    tree = RadixTree(1)
    frames = [snapshot(tree, "empty")]
    for ids, page in (([1, 2, 3, 4], 10), ([1, 2, 5], 20), ([6], 30)):
        add(tree, ids, page)
        frames.append(snapshot(tree, f"{ids}"))
    return frames


def schedule_frames(prompts: Sequence[list[int]], pages: int = 20, rows: int = 2, **options: int) -> list[Frame]:
    config = EngineConfig(cache_type="radix", overlap=False, max_running_req=rows, **options)
    schedule = assemble_scheduler(config, pages, lambda _: VirtualEngine(lambda uid, position: 90 + uid))
    for uid, prompt in enumerate(prompts):
        schedule.scheduler.submit(Req(uid, prompt, SamplingParams(max_tokens=2)))
    frames = []
    while schedule.loop.has_work:
        schedule.loop.step()
        frames.append(snapshot(schedule.scheduler.cache, "", schedule.recorder.rounds[-1].page_events))
    return frames


def shown(svg: str) -> list[ET.Element]:
    """The pieces that are not hidden."""
    pieces = [g for g in ET.fromstring(svg).iter(f"{SVG}g") if g.get("data-f")]
    return [g for g in pieces if g.get("class") != "off"]


def texts(svg: str) -> list[str]:
    return ["".join(g.itertext()) for g in shown(svg)]


def test_a_snapshot_is_a_copy() -> None:
    frames = three()
    assert [sum(len(node.pages) for node in frame.nodes) for frame in frames] == [0, 4, 5, 6]
    last = {node.keys: (node.first, node.pages, node.leaf) for node in frames[-1].nodes}
    assert last == {
        ((1,), (2,)): (0, (10, 11), False),
        ((3,), (4,)): (2, (12, 13), True),
        ((5,),): (2, (20,), True),
        ((6,),): (0, (30,), True),
    }


def test_nothing_moves_when_a_node_is_split() -> None:
    made = film(three())
    whole = made.places[1][0]
    split = {frame_node.keys: places for frame_node, places in zip(made.frames[3].nodes, made.places[3], strict=True)}
    assert split[((1,), (2,))] + split[((3,), (4,))] == whole
    assert [(place.row, place.column) for place in whole] == [(0, 0), (0, 1), (0, 2), (0, 3)]
    assert [(place.row, place.column) for place in split[((5,),)] + split[((6,),)]] == [(1, 2), (2, 0)]
    assert made.rows == 3


def test_readers_and_origins_come_from_the_accounts() -> None:
    frames = schedule_frames([[1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 3, 6]])
    third = next(frame for frame in frames if any(reader.uid == 2 for reader in frame.readers))
    reader = next(reader for reader in third.readers if reader.uid == 2)
    assert (reader.shared, len(reader.pages)) == (3, 4)
    made = film(frames)
    k = frames.index(third)
    assert [made.origin[k][page] for page in reader.pages] == [0, 0, 0, 2]
    assert made.uids == (0, 1, 2)
    assert [frame.own for frame in frames][-1] == 0
    assert all(frame.count(True) + frame.count(False) + frame.own + (frame.free or 0) == 20 for frame in frames)


def test_lines_of_requests_are_used_again() -> None:
    assert film(schedule_frames([[uid, uid + 1] for uid in range(5)], rows=1)).lanes() == dict.fromkeys(range(5), 0)


def test_the_picture_tells_locks_ages_and_who_goes_first() -> None:
    frames = three()
    words = texts(TreeViewer(frames, spell=lambda ids: "".join("?abcdef"[i] for i in ids)).to_svg(3))
    assert "10a" in words
    assert "20e" in words
    assert "age 2, next to go" in words
    assert "age 1" in words
    assert "age 0" in words
    assert "6 pages cached: 0 locked, 6 can be evicted" in words
    prompts = [[1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 3, 6]]
    told = texts(TreeViewer(schedule_frames(prompts), NAMES).to_svg(2))
    assert "C" in told  # the lock's owner
    assert any("1 locked" in text or "3 locked" in text for text in told)


def test_each_frame_is_whole_in_the_picture() -> None:
    frames = three()
    for at, frame in enumerate(frames):
        cells = [text for text in texts(TreeViewer(frames).to_svg(at)) if re.fullmatch(r"\d\d\d", text)]
        assert sorted(int(cell[:2]) for cell in cells) == sorted(page for node in frame.nodes for page in node.pages)


def test_what_stays_is_drawn_once() -> None:
    tree = RadixTree(1)
    add(tree, [1, 2, 3], 0)
    frames = [snapshot(tree, f"step {k}") for k in range(50)]
    svg = TreeViewer(frames).to_svg()
    assert svg.count("class='cell") == 3
    assert svg.count("data-f='0-49'") == 5  # the node, its three cells, the counts


def test_a_long_text_is_drawn_from_both_ends() -> None:
    tree = RadixTree(2)
    add(tree, list(range(400)), 0)
    made = film([snapshot(tree)])
    assert made.columns == (*range(KEEP), None, *range(200 - KEEP, 200))
    assert "⋯" in texts(TreeViewer([snapshot(tree)]).to_svg())


def test_large_films_are_cut_and_say_so() -> None:
    tree = RadixTree(1)
    for first in range(MAX_ROWS + 2):
        add(tree, [first], first)
    viewer = TreeViewer([snapshot(tree)] * (MAX_FRAMES + 1))
    assert viewer.film.left_out == f"shown: the first 200 of 201 steps, the first 64 of {MAX_ROWS + 2} branches"
    assert viewer.film.left_out in viewer.to_svg()


def test_html_is_a_picture_and_asks_for_nothing_outside() -> None:
    viewer = TreeViewer(three(), {0: "<s> & 'x'"}, spell=lambda ids: "</svg>\"'&")
    ET.fromstring(viewer.to_svg())
    html = viewer._repr_html_()
    source = re.search(r'<img alt="[^"<>]*" src="data:image/svg\+xml;charset=utf-8,([^"]*)"', html)
    assert source is not None
    assert unquote(source[1]) == viewer.to_svg()
    outside = r"https?:|//[a-z]|fetch\(|import\(|@import|url\("
    assert not re.search(outside, html.replace("http://www.w3.org/2000/svg", ""))
    assert html == TreeViewer(three(), {0: "<s> & 'x'"}, spell=lambda ids: "</svg>\"'&")._repr_html_()
    assert "\n\n" not in html


def test_nothing_to_show() -> None:
    assert ET.fromstring(TreeViewer([]).to_svg()).get("class") == "rv"
    assert TreeViewer([snapshot(RadixTree(1))])._repr_html_()
    assert repr(TreeViewer(three())) == "TreeViewer(4 steps, 0 requests)"


def test_tree_viewer_imports_no_torch() -> None:
    code = "import sys; sys.modules['torch'] = sys.modules['numpy'] = None; import workbook.widgets.tree"
    subprocess.run([sys.executable, "-c", code], check=True)
