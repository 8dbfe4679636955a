"""Random numbers and what they fall on, against exact distributions. Fixed seeds: a test passes always or never."""

from __future__ import annotations

import math

import pytest
import torch

from minisgl_lite.engine.draw import draw, draw_filtered, probabilities, uniforms

DRAWS = 100_000
OFF = 1 << 40


def numbers(count: int, seed: int = 5) -> torch.Tensor:
    return uniforms(torch.full((count,), seed), torch.arange(count))


def chi_square(tokens: torch.Tensor, exact: torch.Tensor) -> float:
    """How many standard deviations the statistic lies above its mean (Wilson and Hilferty's cube root)."""
    counts = torch.bincount(tokens, minlength=len(exact)).double()
    assert not counts[exact == 0].any(), "a token of probability 0"
    expected = exact.double() * len(tokens)
    # tokens that come a few times only are counted as one
    rare = expected < 10
    counts, expected = (torch.cat((x[~rare], x[rare].sum()[None])) for x in (counts, expected))
    some = expected > 0
    statistic = float(((counts - expected)[some] ** 2 / expected[some]).sum())
    k = int(some.sum()) - 1
    return ((statistic / k) ** (1 / 3) - (1 - 2 / (9 * k))) / math.sqrt(2 / (9 * k))


def exact_probabilities(logits: torch.Tensor, temperature: float, top_k: int, top_p: float) -> torch.Tensor:
    """One token at a time, in double precision."""
    weights = [math.exp(float(z) / temperature) for z in logits.double() - logits.max()]
    order = sorted(range(len(weights)), key=lambda i: -weights[i])[:top_k]
    total, kept, before = sum(weights[i] for i in order), [], 0.0
    for i in order:
        if before < top_p * total or top_p == 1.0:
            kept.append(i)
        before += weights[i]
    out = torch.zeros(len(weights), dtype=torch.float64)
    for i in kept:
        out[i] = weights[i] / sum(weights[j] for j in kept)
    return out


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"),
    [(1.0, OFF, 1.0), (0.5, OFF, 1.0), (1.7, 5, 1.0), (1.0, OFF, 0.8), (1.0, 9, 0.6), (0.7, 1, 0.9)],
)
def test_a_hundred_thousand_draws_follow_the_exact_distribution(temperature, top_k, top_p):
    logits = torch.randn(40, generator=torch.Generator().manual_seed(3)) * 2
    logits[:4] = logits[-4:] = float("-inf")
    exact = exact_probabilities(logits, temperature, top_k, top_p)
    rows = logits.expand(DRAWS, -1)
    probs, u = probabilities(rows, torch.full((DRAWS,), temperature)), numbers(DRAWS)
    if top_k == OFF and top_p == 1.0:
        tokens = draw(probs, u)
    else:
        tokens = draw_filtered(probs, torch.full((DRAWS,), top_k), torch.full((DRAWS,), top_p), u)
    drawn = torch.bincount(tokens, minlength=40) > 0
    assert drawn[exact * DRAWS > 30].all(), "a token that is kept never comes"
    if (exact > 0).sum() > 1:
        assert chi_square(tokens, exact) < 3


@pytest.mark.parametrize(
    ("top_p", "kept"), [(0.5, [0]), (0.61, [0, 1]), (0.95, [0, 1, 2]), (1e-6, [0]), (1e-46, [0]), (1.0, [0, 1, 2])]
)
def test_top_p_keeps_the_fewest_that_hold_it(top_p, kept):
    for order in ([0, 1, 2], [2, 0, 1]):
        probs = torch.tensor([0.6, 0.3, 0.1])[order].expand(500, -1)
        tokens = draw_filtered(probs, torch.full((500,), OFF), torch.full((500,), top_p), numbers(500))
        assert sorted(order[t] for t in tokens.unique().tolist()) == kept


def test_top_p_counts_within_top_k():
    probs = torch.tensor([0.4, 0.3, 0.2, 0.1]).expand(500, -1)
    tokens = draw_filtered(probs, torch.full((500,), 2), torch.full((500,), 0.5), numbers(500))
    assert tokens.unique().tolist() == [0]


def test_equally_likely_tokens_come_in_the_order_of_their_ids():
    probs = torch.full((500, 6), 1 / 6)
    tokens = draw_filtered(probs, torch.full((500,), 2), torch.ones(500), numbers(500))
    assert tokens.unique().tolist() == [0, 1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("temperature", [1e-4, 1e-8, 1e-46, 1e50])
def test_extreme_temperatures_are_numbers(temperature, dtype):
    logits = torch.tensor([[-50.0, 50.0, 49.0, float("-inf")]], dtype=dtype)
    probs = probabilities(logits, torch.tensor([temperature]))
    assert probs.isfinite().all()
    assert probs[0, 3] == 0
    if temperature < 1:
        assert probs[0].tolist() == [0, 1, 0, 0]
    else:
        assert probs[0, :3].tolist() == pytest.approx([1 / 3] * 3)


def test_no_token_without_probability_even_where_sums_round():
    """Zeros at both ends and in between, u just below 1, and totals that are not 1."""
    probs = torch.zeros(1000, 300)
    probs[:, 10:290:7] = torch.rand(1000, 40, generator=torch.Generator().manual_seed(1))
    for u in (0.0, 1 - 2**-24, 0.5):
        for scale in (1.0, 1e-30, 1e30):
            tokens = draw(probs * scale, torch.full((1000,), u))
            assert (probs.gather(-1, tokens[:, None]) > 0).all()
    assert draw(torch.tensor([[0.0, 0.2, 0.8]]), torch.tensor([0.0])).tolist() == [1]
    # the smallest number that there is: any part of it rounds to 0 or to the whole
    assert draw(torch.tensor([[0.0, 1e-45, 0.0]]), torch.tensor([1 - 2**-24])).tolist() == [1]
    assert draw(torch.full((1, 3), float("nan")), torch.tensor([0.5])).max() < 3


def test_numbers_are_even_and_independent_along_counters_and_seeds():
    for seeds, counters in (
        (torch.zeros(DRAWS, dtype=torch.int64), torch.arange(DRAWS)),
        (torch.arange(DRAWS), torch.full((DRAWS,), 17)),
        (torch.arange(DRAWS) - 2**63, torch.arange(DRAWS) << 32),
    ):
        u = uniforms(seeds, counters)
        assert u.dtype == torch.float32
        assert float(u.min()) >= 0
        assert float(u.max()) < 1
        flat = torch.full((100,), 0.01)
        assert chi_square((u * 100).long(), flat) < 3
        # pairs of neighbours fill the square evenly: none says anything about the next
        pairs = (u[:-1:2] * 10).long() * 10 + (u[1::2] * 10).long()
        assert chi_square(pairs, flat) < 3


def test_the_same_number_whatever_the_batch_and_known_values():
    u = uniforms(torch.tensor([1, -1, 1 << 62]), torch.tensor([0, 5, 9]))
    for i, (seed, counter) in enumerate([(1, 0), (-1, 5), (1 << 62, 9)]):
        assert uniforms(torch.tensor([seed]), torch.tensor([counter])) == u[i]
        assert float(u[i]) == splitmix(seed, counter)


def splitmix(seed: int, counter: int) -> float:
    """The definition, in Python's own integers."""
    most, golden = (1 << 64) - 1, 0x9E3779B97F4A7C15

    def mix(z: int) -> int:
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & most
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & most
        return z ^ (z >> 31)

    z = mix(seed + golden & most)
    return (mix(z + counter * golden & most) >> 40) / 2**24
