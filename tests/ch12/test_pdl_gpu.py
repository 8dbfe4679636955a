"""On a GPU: kernels that start early compute what they compute when each waits for its turn, to the bit."""

from __future__ import annotations

from unittest.mock import patch

import pytest
import torch

from minisgl_lite import LLM, SamplingParams
from tests.helpers.checkpoints import make_checkpoint, random_prompts

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]


def both_ways(work):
    """What `work` returns without and with early starts."""
    from minisgl_lite.kernels import pdl

    if not pdl.supported():
        pytest.skip("no kernel starts early on this GPU, or with this Triton")
    with patch.object(pdl, "supported", return_value=False):
        plain = work()
    return plain, work()


@pytest.mark.parametrize("rows", [1, 5])
def test_a_chain_of_kernels_in_a_graph(rows):
    """Each reads what the one before wrote; memory of earlier ones is used again. Large enough not to end at once."""
    from minisgl_lite.engine.capture import CudaCapture
    from minisgl_lite.kernels.matvec import gated_linear, linear
    from minisgl_lite.kernels.norm import add_rms_norm

    torch.manual_seed(0)
    hidden, inner = 2048, 6144
    up = torch.randn(2 * inner, hidden, device="cuda").bfloat16() / hidden**0.5
    down = torch.randn(hidden, inner, device="cuda").bfloat16() / inner**0.5
    square = torch.randn(hidden, hidden, device="cuda").bfloat16() / hidden**0.5
    weight, start = torch.rand(hidden, device="cuda").bfloat16() + 0.5, torch.randn(rows, hidden, device="cuda")

    def work():
        stream, out = start.clone(), torch.empty_like(start)

        def step():
            stream.copy_(start)
            x = add_rms_norm(None, stream, weight, 1e-6)
            for _ in range(20):
                x = add_rms_norm(linear(x, square), stream, weight, 1e-6)
                x = add_rms_norm(linear(gated_linear(x, up), down), stream, weight, 1e-6)
            out.copy_(x)

        replay, found = CudaCapture(torch.device("cuda"))(step), []
        for _ in range(50):
            out.zero_()
            replay()
            found.append(torch.cat([stream, out]))
        return torch.stack(found)

    with torch.inference_mode():
        plain, early = both_ways(work)
    assert plain.isfinite().all()
    assert (plain == plain[0]).all()
    assert torch.equal(plain, early)


@pytest.mark.parametrize("most", [0, 9])
def test_an_engine_whose_kernels_start_early(tmp_path, most):
    """Without graphs, with graphs of one entry and more, prefills between them: tokens and their log-probabilities."""
    make_checkpoint(tmp_path, "qwen3", hidden_size=1024, intermediate_size=3072, head_dim=128, vocab_size=2304)
    prompts = random_prompts(20, 1, 200, seed=8)
    params = [SamplingParams(max_tokens=20 + 3 * i, ignore_eos=True, logprobs=2) for i in range(20)]

    def work():
        options = {"num_pages": 300, "max_running_req": 9, "page_size": 16, "cache_type": "naive"}
        with LLM(tmp_path, dtype="bfloat16", device="cuda", cuda_graph_max_bs=most, **options) as llm:
            outs = llm.generate(prompts, params)
            llm.check_invariants()
        return [(out.token_ids, out.logprobs) for out in outs]

    plain, early = both_ways(work)
    assert plain == early
