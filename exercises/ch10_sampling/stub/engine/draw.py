"""Drawing tokens: a random number for each row, and the token that it falls on. Chapter 10."""

from __future__ import annotations

import torch

_GOLDEN = -7046029254386353131  # 0x9E3779B97F4A7C15 as a signed integer: 2**64 divided by the golden ratio, made odd
_MIX = ((30, -4658895280553007687), (27, -7723592293110705685), (31, 1))


def uniforms(seeds: torch.Tensor, counters: torch.Tensor) -> torch.Tensor:
    """One number in [0, 1) for each (seed, counter): int64 [N], int64 [N] -> float32 [N], multiples of 2**-24.

    There is no state: the number follows from the two integers alone, by the mixing function of splitmix64. So a
    request's numbers do not depend on who is in the batch with it, nor on how often it was tried.
    """
    bits = _mix(_mix(seeds + _GOLDEN) + counters * _GOLDEN)
    return _shift(bits, 40).float() * 2.0**-24


def _mix(z: torch.Tensor) -> torch.Tensor:
    """splitmix64's finisher: each bit of the result depends on each bit of z. Products wrap around, as int64 does."""
    for shift, factor in _MIX:
        z = (z ^ _shift(z, shift)) * factor
    return z


def _shift(z: torch.Tensor, n: int) -> torch.Tensor:
    """z >> n with zeros from the left; torch repeats the sign."""
    return (z >> n) & ((1 << (64 - n)) - 1)


def probabilities(logits: torch.Tensor, temperature: torch.Tensor) -> torch.Tensor:
    """softmax(logits / temperature): [N, vocab], [N] > 0 -> float32 [N, vocab].

    The largest logit is subtracted first: at a temperature of 1e-8, 50 divided by it would not fit a float16, and the
    difference of two infinities is not a number.
    """
    raise NotImplementedError("exercise 10.1: write the body of probabilities")


def draw(probs: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """The token that u falls on when the probabilities are laid end to end: [N, vocab], [N] in [0, 1) -> int64 [N].

    `probs` need not sum to 1. Never a token of probability 0, whatever the rounding; of none but zeros, the first.
    """
    raise NotImplementedError("exercise 10.1: write the body of draw")


def draw_filtered(probs: torch.Tensor, top_k: torch.Tensor, top_p: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """As `draw`, from the top_k most likely tokens, and of these from the fewest that hold top_p of their probability.

    top_k: int64 [N], at least 1. top_p: float32 [N] in [0, 1]; 1 keeps all, and so little that float32 makes 0 of it
    leaves the most likely token. Of equally likely ones the lowest id comes first.
    """
    raise NotImplementedError("exercise 10.1: write the body of draw_filtered")
