"""The bundled model as probes use it: the same texts, and nothing that takes seconds to import."""

from __future__ import annotations

from pathlib import Path

import pytest

from minisgl_lite.models.places import BUNDLED
from minisgl_lite.models.tokenizer import HFTokenizer
from workbook import oracle
from workbook.judge import oracles
from workbook.judge.bench import load_bench
from workbook.judge.grade import grade
from workbook.judge.model import QuickTokenizer
from workbook.student import workplaces
from workbook.tree import ROOT


def test_texts_and_ids_are_hugging_faces() -> None:
    quick, slow = QuickTokenizer(BUNDLED["tiny"]), HFTokenizer(BUNDLED["tiny"])
    for prompt in oracle.load().prompts:
        assert quick.encode(prompt.text) == slow.encode(prompt.text) == list(prompt.ids)
        assert quick.decode(prompt.output_ids) == slow.decode(prompt.output_ids)


@pytest.mark.parametrize("probes", sorted(ROOT.glob("exercises/*/probes.py")), ids=lambda path: path.parent.name)
def test_probes_hand_the_model_over_and_do_not_name_it(probes: Path) -> None:
    """An LLM that is given a name brings Hugging Face's tokenizer, to turn the ids of its answers into text."""
    assert 'LLM("' not in probes.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("id_", ["05.1", "08.3", "10.3"])
def test_grading_does_not_import_transformers(id_: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = next(place for place in workplaces(ROOT) if place.exercise.id == id_)
    (tmp_path / "transformers.py").write_text("raise RuntimeError('transformers was imported')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)  # which the graded process gets as well
    report = grade(load_bench(ROOT, place), place.reference, seed=0, oracle=oracles.recorded)
    assert report.status == "passed", report.first_failure
