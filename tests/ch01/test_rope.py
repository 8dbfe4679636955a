"""Rope against Hugging Face's, and what makes it a position embedding."""

from __future__ import annotations

import pytest
import torch
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

from minisgl_lite.models.config import Llama3Scaling, RopeConfig
from minisgl_lite.models.rope import Rope, frequencies, rotate

CPU = torch.device("cpu")
SCALED = RopeConfig(5e5, Llama3Scaling(8.0, 1.0, 4.0, 16))


def hf_rope(rope: RopeConfig, head_dim: int) -> LlamaRotaryEmbedding:
    parameters = {"rope_type": "default", "rope_theta": rope.base}
    if rope.scaling is not None:
        parameters |= {
            "rope_type": "llama3",
            "factor": rope.scaling.factor,
            "low_freq_factor": rope.scaling.low_freq_factor,
            "high_freq_factor": rope.scaling.high_freq_factor,
            "original_max_position_embeddings": rope.scaling.original_max_len,
        }
    config = LlamaConfig(
        hidden_size=2 * head_dim, num_attention_heads=2, max_position_embeddings=64, rope_parameters=parameters
    )
    return LlamaRotaryEmbedding(config)


@pytest.mark.parametrize("rope", [RopeConfig(), RopeConfig(1e6), SCALED])
def test_equals_hf(rope: RopeConfig) -> None:
    theirs = hf_rope(rope, 32)
    torch.testing.assert_close(frequencies(rope, 32), theirs.inv_freq, rtol=1e-6, atol=0)
    q, k = torch.randn(5, 4, 32), torch.randn(5, 2, 32)
    positions = torch.tensor([0, 3, 17, 40, 63])
    cos, sin = theirs(q, positions[None])
    expected_q, expected_k = apply_rotary_pos_emb(q.transpose(0, 1)[None], k.transpose(0, 1)[None], cos, sin)
    rows = Rope(rope, 32, 64, CPU).rows(positions, torch.float32)
    torch.testing.assert_close(rotate(q, *rows), expected_q[0].transpose(0, 1))
    torch.testing.assert_close(rotate(k, *rows), expected_k[0].transpose(0, 1))


def test_only_the_distance_counts() -> None:
    rope = Rope(RopeConfig(), 16, 64, CPU)
    q, k = torch.randn(2, 1, 1, 16, generator=torch.Generator().manual_seed(0))

    def score(at_q: int, at_k: int) -> float:
        rows_q = rope.rows(torch.tensor([at_q]), torch.float32)
        rows_k = rope.rows(torch.tensor([at_k]), torch.float32)
        return float((rotate(q, *rows_q) * rotate(k, *rows_k)).sum())

    assert score(9, 4) == pytest.approx(score(42, 37), abs=1e-4)
    assert score(9, 4) != pytest.approx(score(9, 5), abs=1e-2)


def test_the_table_ends_where_the_model_ends() -> None:
    rope = Rope(RopeConfig(), 16, 64, CPU)
    assert rope.cos.shape == rope.sin.shape == (64, 8)
    assert rope.cos.dtype == torch.float32
    with pytest.raises(IndexError):
        rope.rows(torch.tensor([64]), torch.float32)
