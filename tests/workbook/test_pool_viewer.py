"""The pool map and the page-table row: what they draw of a trace, and that they need nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from typing import Any
from urllib.parse import unquote

import pytest

from workbook.site.figures import engine_at_work_trace
from workbook.widgets.pagemap import MAX_PAGES, MAX_ROUNDS, page_history, spans
from workbook.widgets.pagerow import PageTableRow
from workbook.widgets.player import player
from workbook.widgets.pool import COLOURS, STRIPES, PoolMap, owner_class

SVG = "{http://www.w3.org/2000/svg}"
TRACE: list[dict[str, Any]] = [
    {"index": 0, "phase": "prefill", "page_events": [(0, 7), (1, 7), (2, 8)]},
    {"index": 1, "phase": "decode", "page_events": [(3, 8), (0, "free"), (1, "free")]},
    {"index": 2, "phase": "prefill", "page_events": [(0, 9), (3, "cache"), (2, "free"), (1, 9), (1, "free")]},
]
NAMES = {7: "A", 8: "B", 9: "a long name"}


def pages_of(svg: str) -> list[ET.Element]:
    return [g for g in ET.fromstring(svg).iter(f"{SVG}g") if (g.get("class") or "").startswith("pg ")]


def test_owners_after_every_round() -> None:
    history = page_history(TRACE, 5, NAMES)
    assert [frame.owners for frame in history.frames] == [
        (7, 7, 8, "free", "free"),
        ("free", "free", 8, 8, "free"),
        (9, "free", "free", "cache", "free"),
    ]
    assert history.frames[2].changed == {0, 1, 2, 3}  # page 1 was taken and given back within the round
    assert (history.uids, history.fullest) == ((7, 8, 9), 0)
    assert history.changes()[0] == [(0, 7), (1, "free"), (2, 9)]


def test_sentence_of_a_round() -> None:
    texts = [frame.text for frame in page_history(TRACE, 5, NAMES).frames]
    assert texts[0] == "After round 0 (prefill): pages held: A 2, B 1; free 2 · pages taken: 0–1 (A); 2 (B)"
    assert (
        texts[1] == "After round 1 (decode): pages held: B 2; free 3 · pages taken: 3 (B) · pages given back: 0–1 (A)"
    )


def test_page_numbers_are_joined() -> None:
    assert spans([7, 3, 1, 2, 9, 8]) == "1–3, 7–9"
    assert spans(range(0, 40, 2)) == "0, 2, 4, 6, 8, 10, 12, 14 and 12 more"


def test_free_pages_agree_with_the_engines_own_count() -> None:
    rounds, names = engine_at_work_trace()
    history = page_history(rounds, 16, names)
    assert [frame.held("free") for frame in history.frames] == [r.free_pages for r in rounds]
    assert history.frames[-1].held("free") == 16


def test_picture_shows_the_fullest_round_and_what_changed_in_it() -> None:
    pages = pages_of(PoolMap(TRACE, 5, NAMES).to_svg())
    assert [g.get("class") for g in pages] == ["pg o0 new", "pg o0 new", "pg o1 new", "pg free", "pg free"]
    last = pages_of(PoolMap(TRACE, 5, NAMES).to_svg(2))
    assert [g.get("class") for g in last] == ["pg o2 new", "pg free new", "pg free new", "pg cache new", "pg free"]
    assert ["".join(g.itertext()) for g in last] == ["0a l…", "1", "2", "3c", "4"]


def test_the_player_is_told_every_change() -> None:
    svg = ET.fromstring(PoolMap(TRACE, 5, NAMES).to_svg())
    assert json.loads(svg.get("data-owners", "")) == [["o0", "A", "A"], ["o1", "B", "B"], ["o2", "a l…", "a long name"]]
    assert [g.get("data-h") for g in pages_of(PoolMap(TRACE, 5).to_svg())] == [
        "0:0 1:f 2:2",
        "0:0 1:f 2:f",
        "0:1 2:f",
        "1:1 2:c",
        "",
    ]
    assert svg.get("data-start") == "0"
    assert [g.get("data-k") for g in svg.iter(f"{SVG}g") if g.get("class") == "c"] == ["0", "1", "2"]


def test_more_requests_than_colours_get_stripes_and_a_label() -> None:
    looks = [owner_class(i) for i in range(len(COLOURS) * STRIPES)]
    assert len(set(looks)) == len(looks)
    svg = PoolMap([{"page_events": [(i, i) for i in range(9)]}], 9).to_svg()
    pages = pages_of(svg)
    assert [g.get("class") for g in pages][6:] == ["pg o6 new", "pg o0 h1 new", "pg o1 h1 new"]
    assert [len(list(g.iter(f"{SVG}path"))) for g in pages] == [0] * 7 + [1] * 2
    assert "".join(pages[8].itertext()) == "88"


@pytest.mark.parametrize("hostile", ["<s> & 'x' \"y\"", "a</svg>", "中文"])
def test_hostile_names_stay_text(hostile: str) -> None:
    viewer = PoolMap(TRACE, 5, {7: hostile})
    root = ET.fromstring(viewer.to_svg())
    assert hostile in [t.text for t in root.iter(f"{SVG}text")]
    assert "<s>" not in viewer._repr_html_()


def test_html_is_a_picture_and_asks_for_nothing_outside() -> None:
    viewer = PoolMap(TRACE, 5, NAMES)
    html = viewer._repr_html_()
    source = re.search(r'<img alt="[^"<>]*" src="data:image/svg\+xml;charset=utf-8,([^"]*)"', html)
    assert source is not None
    assert unquote(source[1]) == viewer.to_svg()
    assert not re.search(
        r"https?:|//[a-z]|fetch\(|import\(|@import|url\(", html.replace("http://www.w3.org/2000/svg", "")
    )
    assert html == PoolMap([{**r, "start": 0.5} for r in TRACE], 5, NAMES)._repr_html_()
    assert "\n\n" not in html


def test_a_page_that_the_pool_does_not_have() -> None:
    with pytest.raises(ValueError, match=r"page 5 is in the trace; the pool has pages 0..4"):
        PoolMap([{"page_events": [(5, 1)]}], 5)


def test_a_large_trace_is_cut_and_says_so() -> None:
    trace: list[dict[str, Any]] = [{"page_events": [(k, k)]} for k in range(MAX_ROUNDS + 5)]
    viewer = PoolMap([*trace, {"page_events": [(MAX_PAGES, 1)]}], MAX_PAGES + 1)
    assert viewer.history.left_out == "shown: the first 200 of 206 rounds, the first 1,024 of 1,025 pages"
    assert "and 160 more" in viewer.to_svg()


def test_an_empty_trace_is_a_free_pool() -> None:
    viewer = PoolMap([], 3)
    assert [g.get("class") for g in pages_of(viewer.to_svg())] == ["pg free"] * 3
    assert viewer._repr_html_()


def test_page_table_row() -> None:
    row = PageTableRow([5, 2, 7], 4, 10, num_pages=8, mark=6, name="B")
    assert [row.slot(p) for p in range(10)] == [20, 21, 22, 23, 8, 9, 10, 11, 28, 29]
    texts = [t.text for t in ET.fromstring(row.to_svg()).iter(f"{SVG}text")]
    assert [t for t in texts if t and t.isdigit()] == [str(p) for p in range(10)] + [
        str(s) for s in (8, 9, 10, 11, 20, 21, 22, 23, 28, 29)
    ]
    assert "position 6: entry 6 // 4 = 1, page 2; offset 6 % 4 = 2; slot 2 × 4 + 2 = 10" in texts
    assert row._repr_html_() == PageTableRow((5, 2, 7), 4, 10, num_pages=8, mark=6, name="B")._repr_html_()


def test_page_table_row_without_a_pool_and_at_page_size_one() -> None:
    assert ET.fromstring(PageTableRow([3, 9], 4, 7).to_svg()).get("class") == "rv"
    texts = [t.text for t in ET.fromstring(PageTableRow([3, 0], 1, 2).to_svg()).iter(f"{SVG}text")]
    assert "page 3" in texts
    ET.fromstring(PageTableRow([], 4, 0, name="<empty>").to_svg())


@pytest.mark.parametrize(
    ("pages", "size", "positions", "more", "why"),
    [
        ([1], 4, 5, {}, "5 positions do not fit 1 pages of 4"),
        ([1, 1], 4, 5, {}, "not made of different pages"),
        ([8], 4, 2, {"num_pages": 8}, "not made of different pages"),
        ([1], 4, 2, {"mark": 2}, "position 2 is marked"),
    ],
)
def test_page_table_row_refuses(pages: list[int], size: int, positions: int, more: dict[str, int], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        PageTableRow(pages, size, positions, **more)


def test_a_player_of_a_picture_without_rounds_has_no_controls() -> None:
    assert 'classList.add("still")' in player("<svg></svg>", "a")
    assert ".still .bar" in player("<svg></svg>", "a")


def test_viewers_import_no_torch() -> None:
    code = "import sys; sys.modules['torch'] = sys.modules['numpy'] = None; import workbook.widgets.pagerow"
    subprocess.run([sys.executable, "-c", code], check=True)
