"""Where top-p ends exactly at a token, logits of 16 bits, log-probabilities up to a stop, draws of one answer."""

from __future__ import annotations

from functools import partial

import pytest
import torch

from minisgl_lite import SamplingParams
from minisgl_lite.assembly import Custom
from minisgl_lite.engine.draw import draw_filtered, uniforms
from minisgl_lite.engine.sampler import Sampler, report
from minisgl_lite.models.scripted import ScriptedTokenizer
from tests.helpers.texts import logits_llm, text_llm


@pytest.mark.parametrize(("top_p", "kept"), [(0.5, [0]), (0.75, [0, 1]), (0.875, [0, 1, 2]), (0.9, [0, 1, 2, 3])])
def test_a_token_that_completes_the_share_is_the_last(top_p, kept):
    """Sums without rounding: the fewest tokens that hold the share, and not one more where it is held exactly."""
    probs = torch.tensor([0.5, 0.25, 0.125, 0.125]).expand(500, -1)
    u = uniforms(torch.full((500,), 3), torch.arange(500))
    tokens = draw_filtered(probs, torch.full((500,), 4), torch.full((500,), top_p), u)
    assert tokens.unique().tolist() == kept


def test_log_probabilities_of_16_bits_are_computed_in_32():
    logits = (torch.randn(3, 2000, generator=torch.Generator().manual_seed(4)) * 4).bfloat16()
    ids = logits.argmax(-1)
    own, best, best_ids = report(logits, ids, [0, 2], 4)
    exact = torch.log_softmax(logits[[0, 2]].double(), -1)
    torch.testing.assert_close(own.double(), exact.gather(-1, ids[[0, 2], None])[:, 0], rtol=0, atol=1e-5)
    torch.testing.assert_close(best.double(), exact.gather(-1, best_ids), rtol=0, atol=1e-5)


@pytest.mark.parametrize("overlap", [True, False])
def test_the_token_of_a_stop_has_no_log_probability_in_the_answer(overlap):
    """It is not in token_ids either: ended by an EOS, by a stop string, by length."""
    answers, pieces = {1: [10, 11, 20], 2: [10, 12, 11], 3: [10, 11, 12]}, {10: "a", 11: "b", 12: "c"}
    with text_llm(answers, ScriptedTokenizer(pieces), eos_ids=(20,), overlap=overlap) as llm:
        how = [SamplingParams(max_tokens=3, logprobs=1, stop=stop) for stop in ((), ("c",), ())]
        outs = llm.generate([[1], [2], [3]], how)
    assert [out.finish_reason for out in outs] == ["stop", "stop", "length"]
    assert [out.token_ids for out in outs] == [[10, 11], [10], [10, 11, 12]]
    assert [[max(told, key=told.get) for told in out.logprobs] for out in outs] == [out.token_ids for out in outs]


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("overlap", [True, False])
def test_each_token_of_an_answer_has_a_random_number_of_its_own(overlap, seed):
    """Of eight equally likely tokens, the same entry of the batch draws each about as often as the others."""
    rows = {token: [0.0] * 8 for token in range(8)}
    with logits_llm(rows, 8, overlap=overlap, custom=Custom(chooser=partial(Sampler, 5))) as llm:
        params = SamplingParams(temperature=1.0, max_tokens=60, ignore_eos=True, seed=seed)
        for out in llm.generate([[1], [2]], params):
            assert max(map(out.token_ids.count, range(8))) < 20
