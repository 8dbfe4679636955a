from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.helpers.toybook import MODULE, make_toybook
from workbook.source import SourceError
from workbook.spec import load_exercises
from workbook.stubs import cut, stub_files


def test_only_the_bodies_are_cut() -> None:
    stub = cut(MODULE, {"Line.take": "05.1"}, {"Line.head": "05.1"})
    ast.parse(stub)
    gone = [line for line in MODULE.split("\n") if line not in stub.split("\n")]
    assert "        # 寿司 comes in order" in gone
    assert "        # nothing after this" in gone
    assert "    # a comment before the next method" not in gone
    new = [line for line in stub.split("\n") if line not in MODULE.split("\n")]
    assert len(new) == 2
    assert '        raise NotImplementedError("exercise 05.1: write the body of Line.take")' in new
    assert 'The first, or None."""' in stub


def test_a_missing_function_and_nested_bodies_are_refused() -> None:
    with pytest.raises(SourceError, match=r"Line\.gone"):
        cut(MODULE, {"Line.gone": "05.1"})
    with pytest.raises(SourceError, match="overlap"):
        cut("class A:\n    def f(self):\n        return 1\n", {"A": "05.1", "A.f": "05.2"})


def test_exercises_of_one_module_share_a_stub(tmp_path: Path) -> None:
    root = make_toybook(tmp_path)
    stubs = stub_files(root)
    assert list(stubs) == ["exercises/ch05_line/stub/line.py"]
    (text,) = stubs.values()
    assert [text.count(f'"exercise {e.id}: write') for e in load_exercises(root)] == [1, 1]
