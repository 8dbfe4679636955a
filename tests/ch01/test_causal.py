"""Attention within one sequence, against torch's own and by hand."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from minisgl_lite.attention.causal import CausalAttention, attention


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.mark.parametrize(("heads", "kv_heads"), [(8, 2), (4, 2), (2, 2), (6, 1)])
def test_equals_torch(heads: int, kv_heads: int) -> None:
    q, k, v = draw(7, heads, 16), draw(7, kv_heads, 16), draw(7, kv_heads, 16) + 1
    expected = F.scaled_dot_product_attention(
        q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1), is_causal=True, enable_gqa=True
    ).transpose(0, 1)
    torch.testing.assert_close(CausalAttention()(0, q, k, v), expected)


def test_neighbouring_query_heads_share_a_kv_head() -> None:
    v = torch.arange(2.0).view(1, 2, 1)
    out = attention(torch.zeros(1, 4, 1), torch.zeros(1, 2, 1), v)
    assert out.flatten().tolist() == [0.0, 0.0, 1.0, 1.0]


def test_three_queries_over_eight_keys_see_their_own_past() -> None:
    q, k, v = draw(8, 4, 16), draw(8, 2, 16), draw(8, 2, 16) + 1
    torch.testing.assert_close(attention(q[5:], k, v), attention(q, k, v)[5:])
    # all scores equal: row i averages exactly the keys 0 .. 5 + i
    values = torch.arange(8.0).view(8, 1, 1)
    out = attention(torch.zeros(3, 1, 1), torch.zeros(8, 1, 1), values).flatten()
    torch.testing.assert_close(out, torch.tensor([2.5, 3.0, 3.5]))


def test_the_dtype_stays() -> None:
    q, kv = draw(3, 2, 4).bfloat16(), draw(3, 2, 4).bfloat16()
    assert attention(q, kv, kv).dtype == torch.bfloat16
