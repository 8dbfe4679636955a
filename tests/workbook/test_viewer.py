"""The round viewer: what it draws of a trace, and that it is the same in every run and needs nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import pytest

from workbook.widgets.rounds import RoundViewer, side_by_side
from workbook.widgets.timeline import MAX_REQUESTS, MAX_ROUNDS, timeline

SVG = "{http://www.w3.org/2000/svg}"


def round_(index: int, phase: str, entries: list[tuple[int, int, int]], **more: Any) -> SimpleNamespace:
    counters = {"waiting": 0, "running": 0, "free_slots": 0, "free_pages": 9, "evictable_pages": 0}
    rest = {"waiting_uids": (), "finished": (), "start": 0.0, "end": 1.0, "page_events": ()}
    return SimpleNamespace(index=index, phase=phase, entries=tuple(entries), **(counters | rest | more))


TRACE = [
    round_(0, "prefill", [(0, 0, 3), (1, 0, 120)]),
    round_(1, "decode", [(0, 3, 1), (1, 120, 1)], waiting=1, waiting_uids=(2,), finished=((0, "length"),)),
    round_(2, "prefill", [(2, 0, 4)], free_pages=7),
    round_(3, "decode", [(1, 121, 1), (2, 4, 1)], finished=((1, "stop"), (2, "abort"))),
]


def states(trace: list[Any]) -> list[dict[int, str]]:
    return [{cell.uid: cell.state for cell in column.cells} for column in timeline(trace).columns]


def test_states_of_every_request_in_every_round() -> None:
    assert states(TRACE) == [
        {0: "prefill", 1: "prefill"},
        {0: "decode", 1: "decode", 2: "waiting"},
        {1: "held", 2: "prefill"},
        {1: "decode", 2: "decode"},
    ]


def test_sentence_of_a_round_names_requests_reasons_and_counters() -> None:
    texts = [column.text for column in timeline(TRACE, {0: "A", 1: "B", 2: "C"}).columns]
    assert (
        texts[1]
        == "Round 1: decode of 2 tokens for A, B · waiting: C · finished: A (length) · free rows 0 · free pages 9"
    )
    assert texts[2].startswith("Round 2: prefill of 4 tokens for C · running, not in this batch: B")


def test_plain_mappings_and_padding_of_a_static_batch() -> None:
    trace = [
        {"phase": "decode", "entries": [(0, 3, 1), (1, 3, 1)], "finished": [(0, "length")]},
        {"phase": "decode", "entries": [(0, 3, 0), (1, 4, 1)]},
    ]
    assert states(trace)[1] == {0: "padding", 1: "decode"}
    assert "row kept for nothing" in RoundViewer(trace).to_svg()


def test_abort_in_the_queue_is_marked_without_a_cell() -> None:
    trace = [
        round_(0, "prefill", [(0, 0, 1)], waiting_uids=(1,)),
        round_(1, "decode", [(0, 1, 1)], finished=((1, "abort"),)),
    ]
    cells = timeline(trace).columns[1].cells
    assert [(c.uid, c.state, c.ends) for c in cells] == [(0, "decode", ""), (1, "gone", "abort")]


def test_a_cross_is_explained_where_there_is_one() -> None:
    legend = [text for text in ("finished", "aborted") if f">{text}</text>" in RoundViewer(TRACE).to_svg()]
    assert legend == ["finished", "aborted"]
    assert ">aborted</text>" not in RoundViewer(TRACE[:3]).to_svg()


def test_svg_is_well_formed_with_hostile_names_and_has_a_column_a_round() -> None:
    root = ET.fromstring(RoundViewer(TRACE, {0: "<s> & 'x' \"y\"", 1: "中文", 2: "a</svg>"}).to_svg())
    assert [g.get("data-k") for g in root.iter(f"{SVG}g") if g.get("class") == "c"] == ["0", "1", "2", "3"]
    labels = [t.text for t in root.iter(f"{SVG}text")]
    assert "<s> & 'x' \"y\"" in labels
    assert "P 120" in labels
    assert root.get("aria-label") == "3 requests over 4 rounds"


def test_bytes_do_not_depend_on_times() -> None:
    later = [SimpleNamespace(**{**vars(r), "start": r.start + 0.5, "end": r.end + 0.7}) for r in TRACE]
    assert RoundViewer(later)._repr_html_() == RoundViewer(TRACE)._repr_html_()
    assert RoundViewer(TRACE[:3])._repr_html_() != RoundViewer(TRACE)._repr_html_()


def test_html_holds_the_picture_for_an_untrusted_notebook() -> None:
    viewer = RoundViewer(TRACE, {0: "<s>"})
    html = viewer._repr_html_()
    source = re.search(r'<img alt="[^"<>]*" src="data:image/svg\+xml;charset=utf-8,([^"]*)"', html)
    assert source is not None
    assert unquote(source[1]) == viewer.to_svg()
    assert "<s>" not in html
    assert "\n\n" not in html


def test_html_asks_for_nothing_outside() -> None:
    html = RoundViewer(TRACE)._repr_html_().replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|//[a-z]|fetch\(|import\(|@import|url\(", html)


def test_a_long_trace_is_cut_and_says_so() -> None:
    trace = [round_(i, "decode", [(uid, i, 1) for uid in range(MAX_REQUESTS + 5)]) for i in range(MAX_ROUNDS + 10)]
    lines = timeline(trace)
    assert (len(lines.columns), len(lines.uids)) == (MAX_ROUNDS, MAX_REQUESTS)
    assert lines.left_out == "shown: the first 200 of 210 rounds, the first 64 of 69 requests"
    assert lines.left_out in RoundViewer(trace).to_svg()


@pytest.mark.parametrize(("rounds", "letters"), [(10, "P 5"), (30, "P"), (60, "P")])
def test_a_page_shows_all_rounds_of_a_longer_trace(rounds: int, letters: str) -> None:
    trace = [round_(0, "prefill", [(0, 0, 5)]), *(round_(i, "decode", [(0, i, 1)]) for i in range(1, rounds))]
    root = ET.fromstring(RoundViewer(trace).to_svg())
    assert float(root.get("width", "")) <= 950
    cells = [text.text for text in root.iter(f"{SVG}text") if (text.get("class") or "").startswith("on")]
    assert cells == [letters, *["D"] * (rounds - 1)]


def test_columns_do_not_become_too_narrow_to_be_told_apart() -> None:
    root = ET.fromstring(RoundViewer([round_(i, "decode", [(0, i, 1)]) for i in range(150)]).to_svg())
    widths = {int(rect.get("width", "")) for rect in root.iter(f"{SVG}rect") if rect.get("class") == "hit"}
    assert widths == {10}
    assert [t.text for t in root.iter(f"{SVG}text") if t.text and t.text.isdigit()].count("145") == 1


@pytest.mark.parametrize("rounds", [4, 40, 50, 90, 150])
def test_numbers_do_not_run_together(rounds: int) -> None:
    """A digit is some 6.5 wide; nothing is written to the left of the first column, where the labels are."""
    trace = [round_(i, "decode", [(0, i, 1)], free_pages=2029 - i) for i in range(rounds)]
    root = ET.fromstring(RoundViewer(trace).to_svg())
    columns = [group for group in root.iter(f"{SVG}g") if group.get("class") == "c"]
    left = min(int(rect.get("x", "")) for rect in root.iter(f"{SVG}rect") if rect.get("class") == "hit")
    ends: dict[str, float] = {}  # of the text before, by height
    for text in (text for group in columns for text in group.iter(f"{SVG}text") if text.get("class") == "d"):
        middle, half, row = int(text.get("x", "")), 3.25 * len(text.text or ""), text.get("y", "")
        if half:
            assert middle - half >= ends.get(row, left - 4) + 3
            ends[row] = middle + half
    assert len(ends) > 1


def test_one_of_a_kind_is_singular() -> None:
    trace = [round_(0, "prefill", [(0, 0, 1)])]
    said = f"{RoundViewer(trace)!r} {RoundViewer(trace).to_svg()}"
    assert "1 round of 1 request)" in said
    assert "1 request over 1 round'" in said
    assert "prefill of 1 token for" in said


@pytest.mark.parametrize("trace", [[], [round_(0, "decode", [])]])
def test_an_empty_trace_is_drawn(trace: list[Any]) -> None:
    ET.fromstring(RoundViewer(trace).to_svg())
    assert RoundViewer(trace)._repr_html_()


def test_two_traces_share_the_axis() -> None:
    chart = side_by_side(TRACE, TRACE[:2], titles=("before", "after"))
    svg = chart.to_svg()
    assert (svg.count("data-k='0'"), svg.count("data-k='3'")) == (2, 1)
    assert "aria-label='before: 3 requests over 4 rounds; after: 3 requests over 2 rounds'" in svg


def test_viewer_imports_no_torch() -> None:
    code = "import sys; sys.modules['torch'] = sys.modules['numpy'] = None; import workbook.widgets.rounds"
    subprocess.run([sys.executable, "-c", code], check=True)
