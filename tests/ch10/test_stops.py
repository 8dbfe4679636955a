"""Stop strings on the joined text: cut where they begin, held back until decided, whatever pieces the text comes in."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minisgl_lite import SamplingParams
from minisgl_lite.models.scripted import ScriptedTokenizer
from minisgl_lite.tokenizer.stops import StopStrings
from tests.helpers.texts import BytesTokenizer, text_llm


def fed(stops, pieces):
    stop = StopStrings(stops)
    return [stop.push(piece) for piece in pieces] + [stop.flush()], stop.found


@pytest.mark.parametrize(
    ("stops", "pieces", "out", "found"),
    [
        (["</s>"], ["a", "b<", "/s", ">c"], ["a", "b", "", "", ""], True),
        (["</s>"], ["a", "<", "/x"], ["a", "", "</x", ""], False),
        (["</s>"], ["a", "</s"], ["a", "", "</s"], False),
        (["ab", "b"], ["xab"], ["x", ""], True),
        (["abcd", "bc"], ["a", "b", "c", "d"], ["", "", "a", "", ""], True),
        (["aab"], ["a", "a", "a", "b"], ["", "", "a", "", ""], True),
        (["\n\n"], ["x\n", "y\n", "\nz"], ["x", "\ny", "", ""], True),
        ([], ["a", ""], ["a", "", ""], False),
    ],
)
def test_examples(stops, pieces, out, found):
    assert fed(stops, pieces) == (out, found)


def brute_force(stops, text):
    """The text before the first stop string to be complete; the longest of those."""
    for end in range(1, len(text) + 1):
        starts = [end - len(stop) for stop in stops if text[:end].endswith(stop)]
        if starts:
            return text[: min(starts)], True
    return text, False


TEXTS = st.text(alphabet="ab<", max_size=12)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text(alphabet="ab<", min_size=1, max_size=4), max_size=3), st.lists(TEXTS, max_size=8))
def test_the_pieces_do_not_matter(stops, pieces):
    text = "".join(pieces)
    out, found = fed(stops, pieces)
    assert ("".join(out), found) == brute_force(stops, text)
    stop, shown, given_ = StopStrings(stops), "", ""
    for piece in pieces:
        shown, given_ = shown + stop.push(piece), given_ + piece
        held = len(given_) - len(shown)
        assert stop.found or held < max(map(len, stops), default=1), "held back without need"


# ---- through the engine ----------------------------------------------------------------------------------------------

PIECES = {10: "a", 11: "b<", 12: "/s", 13: ">c", 14: "<", 15: "/x", 16: "d"}


def params(**changed) -> SamplingParams:
    return SamplingParams(**{"max_tokens": 10, "stop": ("</s>",), **changed})


@pytest.mark.parametrize("overlap", [True, False])
def test_a_stop_string_across_tokens(overlap):
    answers = {1: [10, 11, 12, 13, 16], 2: [10, 14, 15, 16], 3: [10, 14, 12]}
    with text_llm(answers, ScriptedTokenizer(PIECES), overlap=overlap) as llm:
        outs = llm.generate(
            [[1], [2], [3], [1]], [params(), params(max_tokens=4), params(max_tokens=3), SamplingParams(max_tokens=5)]
        )
        assert [(out.text, out.finish_reason) for out in outs] == [
            ("ab", "stop"), ("a</xd", "length"), ("a</s", "length"), ("ab</s>cd", "length"),
        ]  # fmt: skip
        assert outs[0].token_ids == [10, 11, 12], "without the token that completed it"
        assert not llm.has_work
        llm.check_invariants()
        running = llm.stream([1], params())
        pieces = [next(running) for _ in range(4)]
        assert not llm.has_work
        assert list(running) == []
        assert pieces == [("a", 10, None), ("b", 11, None), ("", 12, None), ("", None, "stop")]
        assert list(llm.stream([2], params(max_tokens=4))) == [
            ("a", 10, None), ("", 14, None), ("</x", 15, None), ("d", 16, "length"),
        ]  # fmt: skip
        assert list(llm.stream([3], params(max_tokens=3)))[-1] == ("</s", 12, "length")


def test_a_stop_string_ends_a_request_that_is_stepped():
    with text_llm({1: [10, 11, 12, 13, 16]}, ScriptedTokenizer(PIECES), overlap=True) as llm:
        uid = llm.submit([1], params())
        events = []
        while llm.has_work:
            events += llm.step()
            llm.check_invariants()
        assert events == [(uid, 10, None), (uid, 11, None), (uid, 12, None), (uid, 13, "stop")]
        assert sum(len(r.entries) for r in llm.trace) == 5, "one wasted entry"
        assert (uid, "stop") in [end for r in llm.trace for end in r.finished]
        assert llm._outputs._open == {}


def test_a_stop_string_at_the_limit_is_a_stop():
    with text_llm({1: [10, 11, 12, 13]}, ScriptedTokenizer(PIECES)) as llm:
        (out,) = llm.generate([[1]], params(max_tokens=4))
        assert (out.text, out.finish_reason, out.token_ids) == ("ab", "stop", [10, 11, 12])


def test_a_stop_that_begins_inside_a_characters_token():
    """The token that completes the emoji also begins the stop string."""
    table = {0: b"hi\xf0\x9f", 1: b"\x98\x80<", 2: b"/s>"}

    class Cut(BytesTokenizer):
        def decode(self, ids):
            return b"".join(table[i] for i in ids).decode(errors="replace")

    with text_llm({9: [0, 1, 2]}, Cut()) as llm:
        assert list(llm.stream([9], params())) == [("hi", 0, None), ("😀", 1, None), ("", None, "stop")]
        assert llm.generate([[9]], params())[0].text == "hi😀"


def test_every_kind_of_stop_token_and_what_is_shown():
    """EOS ids 20 and 21; 22 stops only who asks for it."""
    answers = {1: [10, 16, 20], 2: [10, 21], 3: [10, 22, 16, 20], 4: [20], 5: [10, 20, 16, 22]}
    with text_llm(answers, ScriptedTokenizer(PIECES), eos_ids=(20, 21)) as llm:
        plain, asked = SamplingParams(max_tokens=10), SamplingParams(max_tokens=10, stop_token_ids=(22,))
        ignoring = SamplingParams(max_tokens=10, ignore_eos=True, stop_token_ids=(22,))
        outs = llm.generate([[1], [2], [3], [3], [4], [5]], [plain, plain, plain, asked, plain, ignoring])
        assert [(out.text, out.token_ids, out.finish_reason) for out in outs] == [
            ("ad", [10, 16], "stop"), ("a", [10], "stop"), ("ad", [10, 22, 16], "stop"), ("a", [10], "stop"),
            ("", [], "stop"), ("ad", [10, 20, 16], "stop"),
        ]  # fmt: skip
        assert list(llm.stream([4], plain)) == [("", None, "stop")]


def test_special_tokens_show_alike_in_both_modes():
    """Token 30 is special: it has no text; it is in token_ids, streamed or not."""
    with text_llm({1: [10, 30, 16]}, ScriptedTokenizer(PIECES)) as llm:
        (out,) = llm.generate([[1]], SamplingParams(max_tokens=3))
        pieces = list(llm.stream([1], SamplingParams(max_tokens=3)))
        assert out.text == "".join(piece[0] for piece in pieces) == "ad"
        assert out.token_ids == [piece[1] for piece in pieces] == [10, 30, 16]


def begins(stop: str, text: str) -> int:
    """By definition: the longest end of `text`, shorter than `stop`, with which `stop` begins."""
    return max(n for n in range(len(stop)) if text.endswith(stop[:n]))


@given(st.text("ab", min_size=1, max_size=9), st.text("ab", max_size=12))
@settings(max_examples=500, deadline=None)
def test_what_may_be_the_beginning_of_a_stop_string(stop, text):
    assert StopStrings([stop])._beginning(text) == begins(stop, text)


def test_a_stop_string_as_long_as_a_book_costs_no_more_than_its_length():
    """A character at a time, all of it held; what is compared is text, not each of its ends by itself."""
    n = 200_000
    stops = StopStrings(["a" * n, "a" * n + "b", "b" * n])
    assert stops.push("a" * (n - 2)) == ""
    assert stops.push("a") == ""
    assert stops.push("c") == "a" * (n - 1) + "c"
    assert stops.push("a" * n + "x") == ""
    assert stops.found
