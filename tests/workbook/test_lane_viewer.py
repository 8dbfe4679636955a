"""The lane viewer: what it draws of a virtual run and of a recorded one, without anything else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from typing import Any
from urllib.parse import unquote

import pytest

from minisgl_lite.assembly import assemble_scheduler
from minisgl_lite.config import EngineConfig
from minisgl_lite.core import Req, SamplingParams
from minisgl_lite.engine.lanes import HostCost, Lane, TwoClockEngine, idle_share
from minisgl_lite.engine.virtual import VirtualEngine
from workbook.widgets.lanes import MAX_ROUNDS, LaneViewer, idle_gaps, read_lanes

SVG = "{http://www.w3.org/2000/svg}"


def lanes(overlap: bool, tokens: int = 5) -> list[Lane]:
    engine = TwoClockEngine(VirtualEngine(lambda uid, position: 5), HostCost(0.25, 0.25))
    schedule = assemble_scheduler(EngineConfig(cache_type="naive", overlap=overlap), 100, lambda _: engine)
    for uid in range(2):
        schedule.scheduler.submit(Req(uid, [5, 6], SamplingParams(max_tokens=tokens)))
    while schedule.loop.has_work:
        schedule.loop.step()
    return engine.lanes


def mapping(lane: Lane) -> dict[str, Any]:
    names = ("index", "phase", "uids", "launch", "device", "wait", "settle")
    return {name: getattr(lane, name) for name in names}


def test_gaps_of_the_device_are_those_of_the_two_clocks() -> None:
    for overlap in (False, True):
        found = lanes(overlap)
        bars = read_lanes(found)
        total = found[-1].device[1] - found[0].device[0]
        assert sum(b - a for a, b in idle_gaps(bars)) / total == pytest.approx(idle_share(found))
        assert bool(idle_gaps(bars)) is not overlap


def test_two_runs_on_one_axis_of_time() -> None:
    viewer = LaneViewer(("without <overlap>", lanes(False)), ("with", lanes(True)))
    root = ET.fromstring(viewer.to_svg())
    groups = [g.get("data-k") for g in root.iter(f"{SVG}g") if g.get("class") == "c"]
    assert groups == ["0", "1", "2", "3", "4"] * 2
    idle = [r for r in root.iter(f"{SVG}rect") if r.get("class") == "idle"]
    assert len(idle) == 4 + 1, "four gaps, and one in the legend"
    width = {r.get("width") for r in root.iter(f"{SVG}rect") if r.get("class") == "decode" and r.get("height") == "30"}
    assert len(width) == 1, "a second is as long in both runs"
    assert root.get("aria-label") == (
        "without <overlap>: 5 rounds in 7.5 s, device idle between rounds 29%; "
        "with: 5 rounds in 5.5 s, device idle between rounds 0%"
    )
    titles = [t.text for t in root.iter(f"{SVG}title")]
    assert titles[1] == (
        "Round 2: decode of 2 requests · launch 1.5 to 1.75 s · device 1.75 to 2.75 s · wait 1.75 to 2.75 s · "
        "settle 2.75 to 3 s"
    )


def test_a_recorded_run_is_drawn_as_the_virtual_one() -> None:
    found = lanes(True)
    recorded = json.loads(json.dumps([mapping(lane) for lane in found]))
    assert LaneViewer(("a", recorded)).to_svg() == LaneViewer(("a", found)).to_svg()
    shifted = [{**r, **{p: [t + 100 for t in r[p]] for p in ("launch", "device", "wait", "settle")}} for r in recorded]
    assert LaneViewer(("a", shifted)).to_svg() == LaneViewer(("a", found)).to_svg()
    assert "launch 0 to 250 ms" in LaneViewer(("a", found), unit="ms").to_svg()


def test_bad_input_is_named() -> None:
    good = mapping(lanes(True)[0])
    with pytest.raises(ValueError, match=r"round 1: wait is \(2, 1\); it must be \(start, end\)"):
        LaneViewer(("a", [good | {"wait": [2, 1]}]))
    with pytest.raises(ValueError, match=r"round 1: device is \(\)"):
        LaneViewer(("a", [{k: v for k, v in good.items() if k != "device"}]))
    with pytest.raises(ValueError, match="unit is 'h'"):
        LaneViewer(unit="h")


@pytest.mark.parametrize("panels", [[], [("nothing", [])]])
def test_nothing_is_drawn(panels: list[Any]) -> None:
    ET.fromstring(LaneViewer(*panels).to_svg())
    assert LaneViewer(*panels)._repr_html_()


def test_a_long_run_is_cut() -> None:
    bars = read_lanes(lanes(True, tokens=MAX_ROUNDS + 30))
    assert len(bars) == MAX_ROUNDS


def test_html_holds_the_picture_and_asks_for_nothing() -> None:
    viewer = LaneViewer(("<s>", lanes(True)))
    html = viewer._repr_html_()
    source = re.search(r'<img alt="[^"<>]*" src="data:image/svg\+xml;charset=utf-8,([^"]*)"', html)
    assert source is not None
    assert unquote(source[1]) == viewer.to_svg()
    assert "<s>" not in html
    assert not re.search(
        r"https?:|//[a-z]|fetch\(|import\(|@import|url\(", html.replace("http://www.w3.org/2000/svg", "")
    )


def test_viewer_imports_no_torch() -> None:
    code = "import sys; sys.modules['torch'] = sys.modules['numpy'] = None; import workbook.widgets.lanes"
    subprocess.run([sys.executable, "-c", code], check=True)
