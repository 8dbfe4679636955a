"""Ctrl-C, the garbage collector and exceptions in the book-keeping: the books are whole, or the LLM says otherwise."""

from __future__ import annotations

import signal
import threading

import pytest

from minisgl_lite import SamplingParams
from tests.helpers.scripts import scripted_llm
from tests.helpers.texts import BytesTokenizer, text_llm

COUNT = {i: i + 1 for i in range(31)}
PARTS = {
    "grow": lambda llm: (llm._scheduler.cache, "grow"),
    "commit": lambda llm: (llm._scheduler, "commit"),
    "settle": lambda llm: (llm._loop, "settle"),
    "close": lambda llm: (llm._scheduler.cache, "close"),
    "insert": lambda llm: (llm._scheduler.cache.tree, "insert"),
    "record": lambda llm: (llm._loop, "record"),
}


def greedy(n: int) -> SamplingParams:
    return SamplingParams(max_tokens=n)


def before_call(llm, part: str, what) -> None:
    """`what()` in the middle of the book-keeping: before the first call of a part's method, which then goes on."""
    owner, name = PARTS[part](llm)
    method = getattr(owner, name)

    def changed(*args):
        setattr(owner, name, method)
        what()
        return method(*args)

    setattr(owner, name, changed)


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("overlap", [True, False])
@pytest.mark.parametrize("part", PARTS)
def test_ctrl_c_waits_for_the_end_of_the_book_keeping(part, overlap):
    with scripted_llm(COUNT, cache_type="radix", overlap=overlap) as llm:
        other = llm.submit([7], greedy(4))
        before_call(llm, part, interrupt)
        with pytest.raises(KeyboardInterrupt):
            llm.generate([[1], [2], [3]], greedy(6))
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        events = [event for _ in range(20) if llm.has_work for event in llm.step()]
        assert [(uid, token) for uid, token, _ in events] == [(other, token) for token in (8, 9, 10, 11)]
        llm.check_invariants()
        assert llm.generate([[1], [9]], greedy(2))[1].token_ids == [10, 11]


def test_ctrl_c_in_a_step_loses_no_event():
    with scripted_llm(COUNT) as llm:
        llm.submit([1], greedy(2))
        before_call(llm, "commit", interrupt)
        with pytest.raises(KeyboardInterrupt):
            llm.step()
        assert llm.step() == [(0, 2, None), (0, 3, "length")]


def test_ctrl_c_in_a_forward_pass_does_not_wait():
    with scripted_llm(COUNT) as llm:
        engine, done = llm._parts.engine, []
        forward = engine.forward_batch

        def long(batch):
            interrupt()
            done.append(batch)

        engine.forward_batch = long
        with pytest.raises(KeyboardInterrupt):
            llm.generate([[1]], greedy(2))
        engine.forward_batch = forward
        assert done == []
        llm.check_invariants()
        assert not llm.has_work
        assert llm.generate([[1]], greedy(2))[0].token_ids == [2, 3]


def test_a_second_ctrl_c_does_not_wait_and_the_llm_says_that_it_is_broken():
    llm = scripted_llm(COUNT)

    def twice():
        interrupt()
        interrupt()
        pytest.fail("the second one waited, too")

    before_call(llm, "commit", twice)
    with pytest.raises(KeyboardInterrupt):
        llm.generate([[1]], greedy(2))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not llm.has_work
    calls = (llm.step, lambda: llm.generate([[1]]), lambda: llm.submit([1]), lambda: llm.abort(0), llm.check_invariants)
    words = r"^this LLM was interrupted in its book-keeping \(KeyboardInterrupt\); make a new one$"
    for call in calls:
        with pytest.raises(RuntimeError, match=words):
            call()
    llm.close()


def test_another_handler_of_ctrl_c_is_left_alone():
    seen = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with scripted_llm(COUNT) as llm:
            before_call(llm, "commit", interrupt)
            assert llm.generate([[1]], greedy(2))[0].token_ids == [2, 3]
        assert seen == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_work_without_the_handler():
    answers = []
    with scripted_llm(COUNT) as llm:
        thread = threading.Thread(target=lambda: answers.extend(llm.generate([[1]], greedy(2))))
        thread.start()
        thread.join()
        assert answers[0].token_ids == [2, 3]


def test_a_bug_in_the_book_keeping_is_told_once_and_remembered():
    llm = scripted_llm(COUNT)
    before_call(llm, "grow", lambda: [].pop())
    with pytest.raises(IndexError):
        llm.generate([[1]], greedy(2))
    assert not llm.has_work
    with pytest.raises(RuntimeError, match=r"book-keeping \(IndexError pop from empty list\); make a new one$"):
        llm.generate([[1]], greedy(2))


@pytest.mark.parametrize("part", ["grow", "commit", "close", "record"])
def test_a_stream_that_is_collected_in_a_step_is_aborted_after_it(part):
    """The garbage collector ends an iterator that nobody holds at any allocation; here, at a chosen one."""
    with text_llm({65: range(97, 110), 66: range(97, 110)}, BytesTokenizer(), overlap=True) as llm:
        held = [llm.stream([66], greedy(12))]
        next(held[0])
        other = llm.submit([65], greedy(6))
        before_call(llm, part, held.clear)
        events = [event for _ in range(20) if llm.has_work for event in llm.step()]
        assert [(uid, token) for uid, token, _ in events] == [(other, token) for token in range(97, 103)]
        llm.check_invariants()
        assert not llm._scheduler.live
        assert llm._outputs._open == {}


def test_a_stream_that_another_thread_drops_is_aborted_at_the_next_call():
    with text_llm({65: [97, 98]}, BytesTokenizer()) as llm:
        pieces = llm.stream([65], greedy(9))
        next(pieces)
        thread = threading.Thread(target=pieces.close)
        thread.start()
        thread.join()
        assert len(llm._scheduler.live) == 1
        assert [event for _ in range(9) if llm.has_work for event in llm.step()] == []
        assert not llm._scheduler.live
