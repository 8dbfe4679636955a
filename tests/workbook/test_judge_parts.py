from __future__ import annotations

import ast
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.helpers.judging import BLANK, FILE, edit
from tests.helpers.toybook import make_toybook
from workbook.judge import cli, oracles
from workbook.judge.checklib import compare_rounds, compare_streams, tied
from workbook.judge.commands import watch
from workbook.judge.parts import graft
from workbook.judge.session import Session
from workbook.judge.values import NotAValue, decode, plain
from workbook.judge.variants import apply_variant
from workbook.progress import results
from workbook.source import SourceError
from workbook.student import create_missing


class Sub(int):
    """An integer that is not plain."""


@pytest.mark.parametrize("value", [Sub(1), {1: 2}, {1, 2}, object(), float("nan"), b"x", [[Sub(2)]], {"a": Sub(1)}])
def test_only_plain_values_pass(value: object) -> None:
    with pytest.raises(NotAValue):
        plain(value)


def test_plain_values_keep_their_types() -> None:
    value = {"a": [1, True, None, 1.5, "x", (2, 3)]}
    assert repr(plain(value)) == "{'a': [1, True, None, 1.5, 'x', [2, 3]]}"
    nested: list[object] = []
    for _ in range(50):
        nested = [nested]
    with pytest.raises(NotAValue, match="deep"):
        plain(nested)
    for line in ("[1]", "x", "[" * 100_000):
        with pytest.raises(NotAValue):
            decode(line)


def oracle(*outputs: list[int], gap: float = 1.0) -> list[SimpleNamespace]:
    return [SimpleNamespace(ids=[1, 2], output_ids=out, gaps=[gap] * len(out)) for out in outputs]


def test_streams_name_the_first_divergence() -> None:
    result = compare_streams(oracle([5, 6, 7], [8, 9]), [[5, 6, 7], [8, 4]], bound=0.1)
    assert (result.verdict, result.diagnosis) == ("failed", "wrong-tokens")
    assert "request 1 (2 prompt ids), step 1: token 4, expected 9 (Hugging Face's gap there is 1)" in result.message
    assert compare_streams(oracle([5, 6]), [[5]], bound=0.1).verdict == "ok"
    assert "goes on after" in compare_streams(oracle([5]), [[5, 6]], bound=0.1).message
    for bad in (None, [], [None], [[True]], [["5"]]):
        assert compare_streams(oracle([5]), bad, bound=0.1).verdict == "failed"


def test_streams_end_where_hugging_faces_do() -> None:
    padded = oracle([5, 6, 2, 0, 0], [8, 9, 4, 7, 1])  # a batch of Hugging Face's: the end, then padding
    ends = {"most": 5, "eos_ids": (2, 3)}
    assert compare_streams(padded, [[5, 6], [8, 9, 4, 7, 1]], **ends).verdict == "ok"
    assert compare_streams(padded, [[5, 6, 2], [8, 9, 4, 7, 1]], **ends).verdict == "ok"
    for got, words in (
        ([[5, 6, 0, 0], [8, 9, 4, 7, 1]], "request 0 goes on after its 2 tokens"),
        ([[5, 6], [8, 9, 4]], "request 1 ends after 3 tokens; expected 5"),
        ([[5], [8, 9, 4, 7, 1]], "request 0 ends after 1 token; expected 2"),
        ([[], []], "request 0 ends after 0 tokens"),
        ([[5, 6], [8, 3, 4, 7, 1]], "request 1 ends after 1 token"),
        ([[5, 6], [8, 9, 4, 7, 1, 1]], "request 1 goes on after its 5 tokens"),
    ):
        result = compare_streams(padded, got, **ends)
        assert (result.verdict, words in result.message) == ("failed", True), result
    assert compare_streams(padded, [[5, 6], [8, 9, 4]], most=3, eos_ids=(2,)).verdict == "ok"


def test_ties_are_shown_and_many_say_nothing() -> None:
    many = oracle(*[[5]] * 9)
    close = oracle([5], gap=0.01)
    assert compare_streams(many + close, [[5]] * 9 + [[6]], bound=0.1).verdict == "tie"
    assert compare_streams(close, [[6]], bound=0.1).verdict == "not run"
    assert tied(2, 10).verdict == "tie"
    assert tied(3, 10).verdict == "not run"


def test_rounds_are_compared_in_words() -> None:
    want = [["prefill", [[0, 0, 5], [1, 0, 5]]], ["decode", [[0, 5, 1]]]]
    assert compare_rounds(want, want).verdict == "ok"
    result = compare_rounds(want, [want[0], ["decode", [[1, 5, 1]]]])
    assert result.message == "round 1 (uid:start+tokens) is decode 1:5+1; expected decode 0:5+1"
    assert "1 rounds; expected 2" in compare_rounds(want, want[:1]).message
    assert compare_rounds(want, None).verdict == "failed"


def test_graft_takes_bodies_and_keeps_line_numbers() -> None:
    mine = ast.parse('def f(a):\n    """Doc."""\n    raise ValueError\n\n\ndef g():\n    return 1\n')
    theirs = ast.parse("x = 1\n\ndef f(a, b=2):\n    return a + b\n")
    tree = graft(mine, theirs, ["f"])
    scope: dict[str, object] = {}
    exec(compile(tree, "x", "exec"), scope)
    f, g = scope["f"], scope["g"]
    assert callable(f)
    assert callable(g)
    assert (f(1), f.__doc__) == (3, "Doc.")
    assert g.__code__.co_firstlineno == 6


def test_variants_add_imports_and_refuse_statements() -> None:
    text = apply_variant("import os\n\ndef f():\n    return 1\n", "import sys\n\ndef f():\n    return sys.path\n")
    assert text == "import os\nimport sys\n\ndef f():\n    return sys.path\n"
    with pytest.raises(SourceError, match="line 1"):
        apply_variant("", "x = 1\n")


def test_watch_grades_what_was_saved(tmp_path: Path) -> None:
    root = make_toybook(tmp_path)
    graded: list[list[str]] = []

    def regrade(ids: list[str]) -> int:
        graded.append(ids)
        if len(graded) == 1:
            threading.Timer(0.2, edit, (root, BLANK, "return []")).start()
        return 0

    session = Session(root, 0, oracles.recorded, lambda line: None)
    assert watch(session, regrade, rounds=4) == 0
    assert graded == [["05.1", "05.2"], ["05.1", "05.2"]]


def test_watch_ends_when_interrupted(tmp_path: Path) -> None:
    def regrade(ids: list[str]) -> int:
        raise KeyboardInterrupt

    session = Session(make_toybook(tmp_path), 0, oracles.recorded, lambda line: None)
    assert watch(session, regrade) == 0


def test_a_broken_file_is_not_edited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = make_toybook(tmp_path)
    create_missing(root)
    (root / FILE).write_text("def f(:\n", encoding="utf-8")
    for args in (["--reset", "05.1"], ["--solution", "05.1", "--apply"]):
        assert cli.main(args, root) == 1
        assert "line 1" in capsys.readouterr().out
    assert (root / FILE).read_text(encoding="utf-8") == "def f(:\n"


def test_a_damaged_progress_file_counts_as_empty(tmp_path: Path) -> None:
    root = make_toybook(tmp_path)
    for text in ("", "[]", '{"results": 3}', '{"results": {"05.1": 7}}'):
        path = root / "work/progress.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        assert results(root) == {}


def test_a_broken_workbook_is_said_to_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = make_toybook(tmp_path)
    (root / "exercises/ch05_line/checks.py").write_text("import nothing_like_it\n", encoding="utf-8")
    assert cli.main(["--reference"], root) == 1
    assert "checks.py cannot be loaded" in capsys.readouterr().err
