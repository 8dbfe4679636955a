from __future__ import annotations

import pytest

from tests.helpers.toybook import MODULE
from workbook.source import (
    SourceError,
    Span,
    body_key,
    body_span,
    definition_source,
    definition_span,
    has_definition,
    put_definition,
    replace_span,
)

LINES = MODULE.split("\n")


def test_definition_span_holds_decorators() -> None:
    span = definition_span(MODULE, "Line.size")
    assert LINES[span.start].strip() == "@property"
    assert LINES[span.end - 1].strip() == "return len(self.numbers)"
    assert definition_source(MODULE, "Line.size").startswith("    @property\n    def size")


def test_body_span_takes_the_comments_around_the_statements_and_leaves_the_docstring() -> None:
    span = body_span(MODULE, "Line.take")
    assert LINES[span.start].strip() == "# 寿司 comes in order"
    assert LINES[span.end - 1].strip() == "# nothing after this"
    assert LINES[span.start - 1].strip() == '"""Numbers from the front while their sum fits."""'


def test_body_span_without_docstring_starts_below_the_signature() -> None:
    text = "def f(\n    a: int,\n) -> int:\n    # why\n\n    return a\nx = 1\n"
    assert body_span(text, "f") == Span(3, 6)


def test_body_that_is_only_a_docstring_is_empty() -> None:
    assert body_span('def f() -> None:\n    """Doc."""\n', "f") == Span(2, 2)


@pytest.mark.parametrize("text", ["def f(): return 1\n", 'def f():\n    """Doc."""; return 1\n'])
def test_body_on_a_shared_line_is_refused(text: str) -> None:
    with pytest.raises(SourceError, match="body of f"):
        body_span(text, "f")


def test_missing_and_unparsable_are_named() -> None:
    with pytest.raises(SourceError, match=r"Line\.nothing is not defined"):
        definition_span(MODULE, "Line.nothing")
    with pytest.raises(SourceError, match="line 1"):
        definition_span("def f(:\n", "f")
    with pytest.raises(SourceError, match="null"):
        has_definition("x = 1\0", "x")
    with pytest.raises(SourceError):
        has_definition("-" * 200_000 + "1", "x")


def test_the_last_of_two_definitions_counts() -> None:
    assert definition_span("def f():\n    return 1\ndef f():\n    return 2\n", "f") == Span(2, 4)


def test_replace_span_keeps_the_rest_to_the_byte() -> None:
    text = "a\n\x0cb\nc"
    assert replace_span(text, Span(1, 2), ["x", "y"]) == "a\nx\ny\nc"
    assert replace_span(text + "\n", Span(0, 0), []) == text + "\n"


def test_body_key_ignores_comments_layout_and_docstring() -> None:
    assert body_key('def f():\n    """A."""\n    return (1)  # one\n', "f") == body_key("def f(): return 1\n", "f")
    assert body_key("def f(): return 1\n", "f") != body_key("def f(): return 2\n", "f")


def test_put_definition_replaces_and_adds() -> None:
    donor = "class A:\n    def f(self):\n        return 2\n    def g(self):\n        return 3\ndef h():\n    return 4\n"
    text = "class A:\n    def f(self): return 1\n\nx = 1\n"
    for name in ("A.f", "A.g", "h"):
        text = put_definition(text, donor, name)
        assert definition_source(text, name) == definition_source(donor, name)
    assert "x = 1" in text
    with pytest.raises(SourceError, match="A is not defined"):
        put_definition("x = 1\n", donor, "A.f")
