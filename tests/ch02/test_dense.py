"""The dense cache: pieces equal the whole, rows do not see each other."""

from __future__ import annotations

import pytest
import torch

from minisgl_lite.attention.causal import attention
from minisgl_lite.attention.dense import DenseAttention, DenseCache
from minisgl_lite.models.scripted import scripted_config

CONFIG = scripted_config(num_layers=2)


def draw(seed: int, tokens: int, heads: int) -> torch.Tensor:
    return torch.randn(tokens, heads, CONFIG.head_dim, generator=torch.Generator().manual_seed(seed))


def qkv(seed: int, tokens: int) -> tuple[torch.Tensor, ...]:
    return draw(seed, tokens, CONFIG.num_heads), draw(seed + 100, tokens, 2), draw(seed + 200, tokens, 2)


@pytest.mark.parametrize("cuts", [[8], [5, 3], [1] * 8, [3, 1, 4]])
def test_a_sequence_in_pieces_equals_the_whole(cuts: list[int]) -> None:
    cache = DenseCache(CONFIG, rows=1, max_len=8)
    cache.k.fill_(1e4)  # a read of a position that nobody wrote would show
    q, k, v = qkv(1, 8)
    pieces, start = [], 0
    for n in cuts:
        part = slice(start, start + n)
        pieces.append(DenseAttention(cache, [0], [start], [n])(1, q[part], k[part], v[part]))
        start += n
    torch.testing.assert_close(torch.cat(pieces), attention(q, k, v))
    assert torch.equal(cache.k[1, 0], k)
    assert (cache.k[0] == 1e4).all()


def test_entries_of_a_ragged_batch_are_alone() -> None:
    cache = DenseCache(CONFIG, rows=3, max_len=8)
    a, b = qkv(1, 5), qkv(2, 7)
    DenseAttention(cache, [2], [0], [3])(0, *(x[:3] for x in a))
    q, k, v = (torch.cat((y[:7], x[3:])) for x, y in zip(a, b, strict=True))
    out = DenseAttention(cache, rows=[0, 2], starts=[0, 3], lens=[7, 2])(0, q, k, v)
    torch.testing.assert_close(out[:7], attention(*b))
    torch.testing.assert_close(out[7:], attention(*a)[3:])
    assert (cache.k[0, 1] == 0).all()


@pytest.mark.parametrize(("start", "n"), [(0, 9), (8, 1), (3, 0), (-1, 2)])
def test_what_does_not_fit_is_refused(start: int, n: int) -> None:
    with pytest.raises(ValueError, match="row 0: positions"):
        DenseAttention(DenseCache(CONFIG, rows=1, max_len=8), [0], [start], [n])
