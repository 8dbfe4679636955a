"""What every exercise of the workbook has: checks that are used, wrong variants, another right answer."""

from __future__ import annotations

import re

import pytest

from workbook.judge.bench import load_bench
from workbook.judge.checkfiles import load_checks
from workbook.judge.variants import load_variants
from workbook.spec import Exercise, load_exercises
from workbook.student import Workplace, workplaces
from workbook.tree import ROOT

PLACES = workplaces(ROOT)


def test_no_chapter_is_without_notebook_tests_and_exercises() -> None:
    """`steps check` runs what it finds in a tree: what has gone would not be missed there."""
    last = max(int(path.name[:2]) for path in (ROOT / "chapters").glob("[0-9][0-9]_*"))
    for chapter in range(1, last + 1):
        for pattern in ("chapters/{}_*.md", "chapters/{}_*.ipynb", "tests/ch{}/test_*.py"):
            assert list(ROOT.glob(pattern.format(f"{chapter:02d}"))), pattern.format(f"{chapter:02d}")
        assert sum(place.exercise.chapter == chapter for place in PLACES) >= 2, chapter


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.exercise.id)
def test_mistakes_and_another_answer_are_kept(place: Workplace) -> None:
    variants = load_variants(ROOT, load_bench(ROOT, place))
    assert sum(variant.kind == "wrong" for variant in variants) >= 2
    assert sum(variant.kind == "right" for variant in variants) >= 1
    texts = [variant.text for variant in variants]
    assert len(set(texts)) == len(texts)
    assert place.reference not in texts


@pytest.mark.parametrize("exercise", load_exercises(ROOT), ids=lambda exercise: exercise.id)
def test_no_check_is_forgotten(exercise: Exercise) -> None:
    written = {name for name in vars(load_checks(ROOT, exercise)[0]) if name.startswith("check_")}
    assert written == {"check_" + re.sub(r"\W+", "_", name) for name in exercise.checks}


@pytest.mark.parametrize("exercise", load_exercises(ROOT), ids=lambda exercise: exercise.id)
def test_sections_to_re_read_are_headings(exercise: Exercise) -> None:
    (master,) = (ROOT / "chapters").glob(f"{exercise.chapter:02d}_*.md")
    sections = {exercise.section, vars(load_checks(ROOT, exercise)[0]).get("REQUEST", exercise.section)}
    headings = {line.lstrip("# ") for line in master.read_text(encoding="utf-8").splitlines() if line.startswith("#")}
    assert sections <= headings


def test_a_chapters_time_is_that_of_reading_and_exercises() -> None:
    stated = 0
    for master in sorted((ROOT / "chapters").glob("[0-9]*.md")):
        text = master.read_text(encoding="utf-8")
        for read, exercises in re.findall(r"about (\d+) minutes to read and run, (\d+) for the exercises", text):
            stated += 1
            minutes = sum(e.minutes for e in load_exercises(ROOT) if e.chapter == int(master.name[:2]))
            assert (int(exercises), int(read) + minutes) == (minutes, int(re.findall(r"\nminutes: (\d+)\n", text)[0]))
    assert stated >= 5
