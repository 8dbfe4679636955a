"""The playground: what it runs, what it says when a run goes wrong, and what a reader without a kernel sees."""

from __future__ import annotations

import subprocess
import sys

import pytest

from minisgl_lite.assembly import Custom
from minisgl_lite.scheduler.cache import CacheManager
from minisgl_lite.scheduler.loop import Loop
from minisgl_lite.scheduler.prefill import PrefillAdder, PrefillManager
from workbook.widgets.playground import REQUESTS, SLIDERS, WIDGET_VIEW, Playground, Settings, play

CHAPTER_05 = Custom(adder=PrefillAdder, queue=PrefillManager, cache=CacheManager, loop=Loop)


def test_all_requests_finish_within_the_settings() -> None:
    outcome = play(Settings(), custom=CHAPTER_05)
    assert outcome.lines == ("25 rounds, 94 tokens computed, 8 requests finished",)
    assert sorted(uid for r in outcome.trace for uid, _ in r.finished) == list(range(len(REQUESTS)))
    assert all(len(r.entries) <= 3 for r in outcome.trace)
    prefills = [[n for _, _, n in r.entries] for r in outcome.trace if r.phase == "prefill"]
    assert all(sum(lens) <= 16 or len(lens) == 1 for lens in prefills)


def test_the_best_parts_of_the_tree_serve_all_requests_too() -> None:
    outcome = play(Settings())
    assert sorted(uid for r in outcome.trace for uid, _ in r.finished) == list(range(len(REQUESTS)))
    assert len(outcome.lines) == 1


def test_every_setting_matters() -> None:
    base = play(Settings(), custom=CHAPTER_05).trace
    for change in ({"slots": 1}, {"budget": 4}, {"arrivals": 6}, {"page_size": 8}, {"pages": 20}):
        changed = play(Settings(**change), custom=CHAPTER_05).trace
        assert [(r.entries, r.free_pages) for r in changed] != [(r.entries, r.free_pages) for r in base], change


def test_running_out_of_pages_is_a_line_and_keeps_the_rounds_before() -> None:
    outcome = play(Settings(slots=4, pages=8), names={3: "D"}, custom=CHAPTER_05)
    assert len(outcome.trace) == 2
    assert outcome.lines[1] == (
        "Round 2: out of pages. D cannot store position 4: 1 pages wanted, 0 of 8 free; abort a request to go on."
    )


def test_a_prompt_larger_than_the_pool_is_refused_at_the_door() -> None:
    outcome = play(Settings(pages=2), requests=[(9, 1), (4, 1)], custom=CHAPTER_05)
    assert outcome.lines[1] == "req 0 is refused at the door: its prompt has 9 tokens, the pool holds 8."
    assert [uid for r in outcome.trace for uid, _ in r.finished] == [1]


def test_an_answer_is_cut_to_the_pool() -> None:
    outcome = play(Settings(pages=2), requests=[(5, 99)], custom=CHAPTER_05)
    assert outcome.lines == ("4 rounds, 8 tokens computed, 1 request finished",)


def test_late_arrivals_are_waited_for() -> None:
    trace = play(Settings(arrivals=6), requests=[(2, 1), (2, 1)], custom=CHAPTER_05).trace
    assert [[uid for uid, *_ in r.entries] for r in trace] == [[0], [1]]


def test_no_requests() -> None:
    assert play(Settings(), requests=[]).lines == ("0 rounds, 0 tokens computed, 0 requests finished",)
    assert "<img" in Playground([]).html()


def test_the_saved_picture_is_the_same_in_every_run_and_needs_no_widget() -> None:
    first, again = (Playground(custom=CHAPTER_05, slots=4, pages=8) for _ in range(2))
    bundle = first._repr_mimebundle_()
    assert bundle["text/html"] == again.html()
    assert bundle["text/plain"] == repr(again)
    assert bundle["text/html"].count("<img ") == 2
    assert "out of pages. D cannot store" in bundle["text/html"]
    assert "rows 4 · token budget 16 · pages 8 · page size 4 · rounds between arrivals 0" in bundle["text/html"]


def test_names_are_escaped() -> None:
    assert "<s>" not in Playground([(99, 1)], {0: "<s>"}).html()


def test_a_slider_draws_anew() -> None:
    pytest.importorskip("ipywidgets")
    playground = Playground(custom=CHAPTER_05)
    box = playground.widget()
    sliders, view = box.children[0].children, box.children[1]
    assert [slider.description for slider in sliders] == [text for _, _, text in SLIDERS.values()]
    before = view.outputs[0]["data"]["text/html"]
    assert before == playground.html()
    sliders[list(SLIDERS).index("pages")].value = 4
    assert "out of pages" in view.outputs[0]["data"]["text/html"]
    sliders[list(SLIDERS).index("pages")].value = 16
    assert view.outputs[0]["data"]["text/html"] == before
    assert WIDGET_VIEW in playground._repr_mimebundle_()


def test_without_ipywidgets_it_is_the_picture() -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['ipywidgets'] = None\n"
        "from workbook.widgets.playground import Playground\n"
        "assert sorted(Playground()._repr_mimebundle_()) == ['text/html', 'text/plain']"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_setting_that_is_none() -> None:
    with pytest.raises(TypeError, match="speed"):
        Playground(speed=3)
