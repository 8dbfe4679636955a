"""Where a run first went wrong: round, pass, layer, request, position and page; and the file that shows the rounds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from workbook.judge import cli
from workbook.judge.autopsy import first_wrong_round, first_wrong_state, with_findings
from workbook.judge.bench import load_bench
from workbook.judge.variants import apply_variant
from workbook.judge.verdicts import CheckReport, Question, Report
from workbook.scratch import copy_repository
from workbook.student import workplaces, write_text
from workbook.tree import ROOT


def a_pass(*layers: list[float | None], ids: tuple[int, ...] = (7, 8, 9), batch: Any = None) -> dict[str, Any]:
    return {"ids": list(ids), "positions": [4, 0, 1], "layers": [list(layer) for layer in layers], "batch": batch}


BATCH = ["prefill", 2, [[3, 1, [5, 6, 9]], [8, 2, [1]]]]


def test_equal_runs_have_no_finding() -> None:
    run = [a_pass([1.0, 2.0, None], [3.0, 4.0, 5.0])]
    near = [a_pass([1.001, 2.001, None], [3.0, 4.0, 5.0])]
    assert first_wrong_state(run, near) == first_wrong_state(run, run) == first_wrong_state([], run) == []


def test_layer_and_token_are_named() -> None:
    want = [a_pass([1.0, 2.0, 3.0]), a_pass([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], batch=BATCH)]
    got = [want[0], a_pass([1.0, 2.0, 3.0], [1.0, 2.0, 3.5], batch=BATCH)]
    words = "the state first goes wrong in forward pass 1 (prefill), layer 1: request 8, position 1, page 1"
    assert first_wrong_state(got, want) == [words]
    got[1] = a_pass([None, 2.0, 3.0], [1.0, 2.0, 3.0], batch=BATCH)
    assert first_wrong_state(got, want)[0].endswith("layer 0: request 3, position 4, page 9")
    assert first_wrong_state([a_pass([1.0, 9.0, 3.0])], want)[0].endswith("pass 0, layer 0: its token 1, position 0")


def test_another_input_comes_before_the_state() -> None:
    want = [a_pass([1.0, 2.0, 3.0])]
    assert first_wrong_state([a_pass([5.0, 5.0, 5.0], ids=(7, 6, 9))], want) == [
        "forward pass 0 is the first with another input: token 1 of yours is id 6, of the reference's id 8"
    ]
    moved = {**a_pass([1.0, 2.0, 3.0], batch=BATCH), "positions": [4, 5, 1]}
    assert first_wrong_state([moved], [{**want[0], "batch": ["decode", 2, []]}]) == [
        "forward pass 0 is the first with another input: "
        "token 1 of yours (prefill) is at position 5, of the reference's (decode) at position 0"
    ]
    short = {**a_pass([1.0, 2.0]), "ids": [7, 8], "positions": [4, 0]}
    words = "forward pass 0 is the first with another input: yours computes 2 tokens, the reference's 3"
    assert first_wrong_state([short], want) == [words]


def test_rounds_are_compared() -> None:
    one, two = ["prefill", [[0, 0, 5]]], ["decode", [[0, 5, 1]]]
    assert first_wrong_round([one, two], [one, two]) == []
    words = "the schedule first differs in round 1 (uid:start+tokens): decode 0:5+1; the reference: nothing"
    assert first_wrong_round([one, two], [one]) == [words]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("autopsy") / "book"
    copy_repository(ROOT, root)
    return root


def graded(root: Path, id_: str, variant: str) -> str:
    """The message of the first failing check of a variant that is handed in by a student."""
    place = next(place for place in workplaces(root) if place.exercise.id == id_)
    text = (root / place.exercise.variants_folder / f"{variant}.py").read_text(encoding="utf-8")
    write_text(root / place.exercise.file, apply_variant(place.reference, text))
    assert cli.main([id_, "--seed", "3", "--json", str(root / "out.json")], root) == 1
    [entry] = json.loads((root / "out.json").read_text(encoding="utf-8"))["exercises"]
    return next(check["message"] for check in entry["checks"] if check["verdict"] == "failed")


@pytest.mark.slow
def test_a_schedule_that_went_wrong_is_shown(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = graded(root, "05.1", "wrong_skips_the_head")
    assert "both schedules, to step through in a browser: work/rounds/05.1.html" in message
    page = (root / "work/rounds/05.1.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert 'class="round-viewer"' in page
    assert "https://" not in page.replace("https://www.w3.org", "")
    assert "python judge.py 05.1 --seed 3" in capsys.readouterr().out


@pytest.mark.slow
def test_a_state_that_went_wrong_is_placed() -> None:
    place = next(place for place in workplaces() if place.exercise.id == "05.3")
    variant = ROOT / place.exercise.variants_folder / "wrong_column_is_a_position.py"
    text = apply_variant(place.reference, variant.read_text(encoding="utf-8"))
    prompts = [list(range(20, 29)), [40, 41, 42]]
    args = {"prompts": prompts, "max_tokens": 3, "slots": 3, "page_size": 4}
    failed = CheckReport("end_to_end", "failed", "wrong-tokens", "request 0 is wrong")
    questions = {"end_to_end": Question("generate", args, oracle=True)}
    report = Report(place.exercise, "failed", checks=(failed,), questions=questions)
    found = with_findings(load_bench(ROOT, place), text, report)
    said, line = found.checks[0].message.split("\n")
    assert said == "request 0 is wrong"
    where = r"forward pass \d+ \((prefill|decode)\), layer 0: request \d, position \d+, page \d+"
    assert re.fullmatch(f"the state first goes wrong in {where}", line), line
