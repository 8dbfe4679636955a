from __future__ import annotations

import pytest

from minisgl_lite.core import Batch, InvariantError, Req, SamplingParams


def admitted(uid: int, prompt: list[int], max_tokens: int = 4) -> Req:
    req = Req(uid, prompt, SamplingParams(max_tokens=max_tokens))
    req.table_idx = uid
    return req


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"max_tokens": -3}, "max_tokens is -3"),
        ({"max_tokens": 2.5}, "max_tokens is 2.5"),
        ({"temperature": -1.0}, "temperature is -1.0"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"top_p": 0.0}, "top_p is 0.0"),
        ({"top_p": 1.5}, "top_p is 1.5"),
        ({"top_k": 0}, "top_k is 0"),
    ],
)
def test_bad_params_are_named(change, words):
    with pytest.raises(ValueError, match=words):
        SamplingParams(**change).validate()


def test_limit_leaves_out_the_last_token():
    req = admitted(0, [5, 6, 7], max_tokens=4)
    assert req.limit == 3 + 4 - 1
    assert [n for n in range(10) if setattr(req, "cached_len", n) is None and req.can_decode] == [3, 4, 5]


def test_one_token_never_decodes():
    req = admitted(0, [5, 6, 7], max_tokens=1)
    req.cached_len = 3
    assert not req.can_decode


def test_a_shorter_max_tokens_does_not_touch_the_params():
    params = SamplingParams(max_tokens=100)
    assert Req(0, [1, 2], params, max_tokens=3).limit == 4
    assert params.max_tokens == 100


def test_stop_ids():
    params = SamplingParams(stop_token_ids=(9,))
    assert Req(0, [1], params, eos_ids=(2, 7)).stop_ids == {2, 7, 9}
    assert Req(0, [1], SamplingParams(ignore_eos=True, stop_token_ids=(9,)), eos_ids=(2,)).stop_ids == {9}


def test_a_row_is_needed():
    with pytest.raises(InvariantError, match="request 3"):
        _ = Req(3, [1], SamplingParams()).row


def test_whole_prompts_all_emit():
    batch = Batch("prefill")
    batch.add(admitted(0, [1, 2, 3]), 3)
    batch.add(admitted(1, [4, 5]), 2)
    assert (batch.starts, batch.lens, batch.rows, batch.ids) == ([0, 0], [3, 2], [0, 1], [1, 2, 3, 4, 5])
    assert batch.emits is None
    assert [r.uid for r in batch.emitting] == [0, 1]


def test_pieces_do_not_emit():
    """A cached prefix of 4 and a prompt of 7 against a fresh prompt of 2: A[4:7] + B[0:2]; then one cut short."""
    a, b, c = admitted(0, list(range(7))), admitted(1, [10, 11]), admitted(2, [20, 21, 22, 23])
    a.cached_len = 4
    batch = Batch("prefill")
    for req, n in ((a, 3), (b, 2), (c, 3)):
        batch.add(req, n)
    assert batch.ids == [4, 5, 6, 10, 11, 20, 21, 22]
    assert batch.emits == [0, 1]
    batch.add(admitted(3, [9]), 1)
    assert batch.emits == [0, 1, 3]
    assert [r.uid for r in batch.emitting] == [0, 1, 3]


def test_a_batch_is_a_copy():
    req = admitted(0, [1, 2, 3])
    batch = Batch("prefill")
    batch.add(req, 2)
    req.cached_len += 2
    req.input_ids.append(4)
    assert (batch.starts, batch.ids) == ([0], [1, 2])
