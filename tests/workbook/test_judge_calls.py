from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.helpers.judging import BLANK, edit, judge
from tests.helpers.toybook import make_toybook
from workbook.judge.calls import WrongReturnError, call, describe_call, told_call
from workbook.judge.process import ProbeRaised


def add(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a + b


def test_a_call_that_raises_is_told_with_its_shapes() -> None:
    with pytest.raises(RuntimeError) as caught:
        call(add, torch.zeros(2, 3), torch.zeros(2, 4, dtype=torch.bfloat16))
    told = told_call(caught.value)
    assert told == "add(a [2, 3], b [2, 4] bfloat16)"
    assert told_call(ValueError("not raised in a call")) == ""


def test_what_a_call_returns_must_be_of_the_type_asked_for() -> None:
    assert call(add, torch.ones(1), torch.ones(1), returns=torch.Tensor).item() == 2
    with pytest.raises(WrongReturnError, match=r"^f\(x 'x'\) returned None; expected Tensor$"):
        call(lambda x: None, "x", returns=torch.Tensor, name="f")
    with pytest.raises(WrongReturnError, match="returned a list"):
        call(list, "x", returns=torch.Tensor)


def test_arguments_are_shown_in_a_few_characters() -> None:
    assert describe_call(add, ([1, 2], "b"), "") == "add(a [1, 2], b 'b')"
    assert describe_call(add, (list(range(50)), object), "f") == "f(a of 50, b <class 'object'>)"
    assert describe_call(add, (1, 2, 3)) == "add(a 1, b 2, 3)"
    assert len(describe_call(add, ("x" * 1000,))) < 100


def test_the_message_is_one_line_with_the_call_and_the_place() -> None:
    raised = {"type": "RuntimeError", "message": "sizes\ndiffer", "call": "f(x [2])", "where": "work/a.py:3 in f"}
    assert str(ProbeRaised(raised)) == "f(x [2]) raised RuntimeError: sizes differ (work/a.py:3 in f)"
    assert str(ProbeRaised({**raised, "call": ""})) == "RuntimeError: sizes\ndiffer (work/a.py:3 in f)"
    wrong = ProbeRaised({"type": "WrongReturnError", "message": "f() returned None", "trace": ["calls.py:1"]})
    assert (wrong.diagnosis, str(wrong), wrong.trace) == ("wrong-return-type", "f() returned None", [])


PROBES = """from toy.line import total
from workbook.judge.calls import call


def probe_total(args):
    return call(total, args["numbers"], returns=int)
"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return numbers[7]", "total(numbers [1, 2, 3]) raised IndexError: list index out of range"),
        ("return None", "total(numbers [1, 2, 3]) returned None; expected int"),
    ],
)
def test_a_report_tells_the_call(tmp_path: Path, body: str, message: str) -> None:
    root = make_toybook(tmp_path)
    (root / "exercises/ch05_line/probes.py").write_text(PROBES, encoding="utf-8")
    edit(root, BLANK.replace("05.1", "05.2").replace("Line.take", "total"), body)
    _, exercises = judge(root, "05.2")
    (check,) = exercises["05.2"]["checks"]
    assert check["message"].startswith(message)
    assert "raised" not in message or "work/exercises/ch05_line/line.py:" in check["message"]
