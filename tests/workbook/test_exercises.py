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
    written = {name for name in vars(load_checks(ROOT, exercise)) if name.startswith("check_")}
    assert written == {"check_" + re.sub(r"\W+", "_", name) for name in exercise.checks}
