"""LLM.stream: the text as it comes, for one prompt among whatever else the engine does."""

from __future__ import annotations

import random

import pytest

from minisgl_lite import LLM, SamplingParams
from tests.helpers.checkpoints import add_tokenizer, make_checkpoint
from tests.helpers.texts import BytesTokenizer, logits_llm, text_llm

TEXT = "Zwölf Boxkämpfer — 你好, 😀😀!"
ANSWER = list(TEXT.encode())


def llm_of(**options) -> LLM:
    return text_llm({t: [*([t] * (t % 5)), *ANSWER] for t in range(65, 91)}, BytesTokenizer(), **options)


def said(token: int, n: int) -> str:
    """The text of the first n tokens that the answer to [token] has."""
    return bytes(([token] * (token % 5) + ANSWER)[:n]).decode(errors="replace")


@pytest.mark.parametrize("overlap", [True, False])
def test_pieces_are_whole_characters_and_together_the_answer(overlap):
    with llm_of(overlap=overlap) as llm:
        params = SamplingParams(max_tokens=len(ANSWER))
        pieces = list(llm.stream([65], params))
        (out,) = llm.generate([[65]], params)
        assert "".join(text for text, _, _ in pieces) == out.text == TEXT
        assert [token for _, token, _ in pieces] == out.token_ids
        assert [reason for _, _, reason in pieces] == [None] * (len(ANSWER) - 1) + ["length"]
        assert all("\ufffd" not in text for text, _, _ in pieces)
        assert not llm.has_work


def test_a_tail_that_is_cut_off_in_a_character_is_not_lost():
    with llm_of() as llm:
        n = TEXT.encode().index("😀".encode()) + 2
        pieces = list(llm.stream([65], SamplingParams(max_tokens=n)))
        assert "".join(text for text, _, _ in pieces) == said(65, n) == TEXT[: TEXT.index("😀")] + "\ufffd"


def test_checked_at_once_queued_with_the_first_piece():
    with llm_of() as llm:
        with pytest.raises(ValueError, match="the prompt is empty"):
            llm.stream([])
        with pytest.raises(ValueError, match="max_tokens is 0"):
            llm.stream([65], SamplingParams(max_tokens=0))
        llm.stream([65])
        assert not llm.has_work
        pieces = llm.stream([65])
        assert next(pieces)[1] == ANSWER[0]
        assert llm.has_work
    with pytest.raises(RuntimeError, match="closed"):
        llm.stream([65])


def test_two_streams_and_a_batch_in_turns():
    with llm_of(max_running_req=3) as llm:
        other = llm.submit([70], SamplingParams(max_tokens=4))
        params = SamplingParams(max_tokens=20)
        a, b, texts = llm.stream([66], params), llm.stream([67], params), ["", ""]
        for i, (one, two) in enumerate(zip(a, b, strict=True)):
            texts = [texts[0] + one[0], texts[1] + two[0]]
            if i == 3:
                assert [out.text for out in llm.generate([[68], [69]], params)] == [said(68, 20), said(69, 20)]
        assert texts == [said(66, 20), said(67, 20)]
        events = [event for _ in range(30) if llm.has_work for event in llm.step()]
        assert [event[0] for event in events] == [other] * 4
        assert llm._outputs._open == {}


@pytest.mark.parametrize("overlap", [True, False])
def test_whoever_stops_reading_aborts(overlap):
    with llm_of(overlap=overlap) as llm:
        for n in range(6):
            pieces = llm.stream([66], SamplingParams(max_tokens=30))
            for _ in range(n):
                next(pieces)
            pieces.close()
            assert not llm._scheduler.live
            while llm.has_work:
                assert llm.step() == []
            llm.check_invariants()
        assert llm.generate([[66]], SamplingParams(max_tokens=5))[0].text == said(66, 5)
        assert llm._outputs._open == {}


def test_an_abort_from_outside_ends_the_stream():
    with llm_of() as llm:
        pieces = llm.stream([66], SamplingParams(max_tokens=30))
        first = [next(pieces), next(pieces)]
        for uid in list(llm._scheduler.live):
            llm.abort(uid)
        assert list(pieces)[-1] == ("", None, "abort")
        assert len(first) == 2
        assert not llm.has_work


def test_a_forward_pass_that_raises_is_told_to_every_stream_in_it():
    with llm_of() as llm:
        params = SamplingParams(max_tokens=30)
        a, b = llm.stream([66], params), llm.stream([67], params)
        for _ in range(3):
            next(a)
            next(b)
        engine = llm._parts.engine
        choose, engine.choose = engine.choose, None
        with pytest.raises(TypeError):
            list(a)
        engine.choose = choose
        with pytest.raises(RuntimeError, match="given up: its forward pass raised"):
            list(b)
        assert llm.generate([[66]], SamplingParams(max_tokens=5))[0].text == said(66, 5)
        assert not llm.has_work


def test_two_hundred_requests_every_third_aborted_with_uids_that_return():
    """Each text is that of its own tokens; nothing is kept of who is gone."""
    draw, stop = random.Random(4), ("\n",)
    with llm_of(max_running_req=4, num_pages=200) as llm:
        told: dict[int, list[int]] = {}
        checked = 0

        def step():
            nonlocal checked
            for uid, token, reason in llm.step():
                if token is not None:
                    told[uid].append(token)
                if reason is not None:
                    prompt, tokens = 65 + uid % 26, told.pop(uid)
                    assert bytes(tokens).decode(errors="replace") == said(prompt, len(tokens))
                    checked += 1

        for i in range(200):
            uid = i % 13
            while uid in told:
                step()
            llm.submit([65 + uid % 26], SamplingParams(max_tokens=draw.randint(1, 30), stop=stop), uid=uid)
            told[uid] = []
            if i % 3 == 0:
                llm.abort(draw.choice(list(told)))
            for _ in range(draw.randint(0, 3)):
                step()
        while llm.has_work:
            step()
        assert checked == 200
        assert llm._outputs._open == {}
        llm.check_invariants()


def test_without_a_tokenizer_there_are_tokens_and_no_text():
    with logits_llm({1: [0.0, 9.0]}, 2) as llm:
        assert list(llm.stream([1], SamplingParams(max_tokens=2))) == [("", 1, None), ("", 1, "length")]


def test_with_a_real_tokenizer(tmp_path):
    make_checkpoint(tmp_path, "llama", seed=1)
    add_tokenizer(tmp_path)
    with LLM(tmp_path, dtype="float32", num_pages=256) as llm:
        params = SamplingParams(max_tokens=40, temperature=0.8, seed=3, ignore_eos=True)
        (out,) = llm.generate(["t5 t9 t40"], params)
        pieces = list(llm.stream("t5 t9 t40", params))
        assert "".join(text for text, _, _ in pieces) == out.text
        assert [token for _, token, _ in pieces] == out.token_ids
        word = out.text.split()[9]
        (cut,) = llm.generate(
            ["t5 t9 t40"], SamplingParams(max_tokens=40, temperature=0.8, seed=3, ignore_eos=True, stop=[word])
        )
        assert (cut.text, cut.finish_reason) == (out.text[: out.text.index(word)], "stop")


def failing_from(llm: LLM, first: int):
    """Forward passes raise from the `first` on."""
    engine, calls = llm._parts.engine, []
    forward = engine.forward_batch

    def failing(batch):
        calls.append(batch)
        if len(calls) >= first:
            raise RuntimeError("boom")
        return forward(batch)

    engine.forward_batch = failing
    return lambda: setattr(engine, "forward_batch", forward)


def test_what_was_computed_is_given_before_the_stream_is_given_up():
    with llm_of() as llm:
        params = SamplingParams(max_tokens=30)
        a, b = llm.stream([66], params), llm.stream([67], params)
        next(a), next(b)
        for _ in range(6):
            next(a)
        mend = failing_from(llm, 1)
        with pytest.raises(RuntimeError, match="boom"):
            list(a)
        mend()
        got = [next(b) for _ in range(6)]
        with pytest.raises(RuntimeError, match="given up: its forward pass raised"):
            got.extend(b)
        assert [token for _, token, _ in got] == list(said(67, 40).encode())[1 : 1 + len(got)]


def test_a_forward_pass_after_the_last_token_cannot_take_the_last_piece_away():
    with text_llm({65: [*b"abc", 300]}, BytesTokenizer(), eos_ids=(300,), overlap=True) as llm:
        failing_from(llm, 5)
        assert list(llm.stream([65], SamplingParams(max_tokens=30)))[-1] == ("", None, "stop")
        assert not llm.has_work


@pytest.mark.parametrize("overlap", [True, False])
@pytest.mark.parametrize("most", [5, 9])
def test_the_trace_knows_what_a_stop_string_ended(overlap, most):
    """Also when the limit comes with it, and when no other round follows."""
    with text_llm({65: [*b"hello world"]}, BytesTokenizer(), overlap=overlap) as llm:
        (out,) = llm.generate([[65]], SamplingParams(max_tokens=most, stop=("lo",)))
        assert (out.text, out.finish_reason) == ("hel", "stop")
        assert [end for r in llm.trace for end in r.finished] == [(0, "stop")]
        if not overlap:
            assert (llm.trace[-1].running, llm.trace[-1].free_slots) == (0, 16)
