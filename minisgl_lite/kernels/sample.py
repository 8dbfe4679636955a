"""Choosing tokens in two kernels that read the logits once. CUDA only. Chapter 12."""

from __future__ import annotations

from itertools import chain

import torch
import triton
import triton.language as tl

from ..core import NO_TOKEN, Batch
from ..engine.inputs import upload
from ..engine.sampler import Sampler, filters_tokens, float_bits, report

BLOCK = 4096

# splitmix64's constants, as in engine.draw: a seed means the same draws on a CPU and on a GPU
_GOLDEN: tl.constexpr = tl.constexpr(-7046029254386353131)
_MIX_1: tl.constexpr = tl.constexpr(-4658895280553007687)
_MIX_2: tl.constexpr = tl.constexpr(-7723592293110705685)
# the smallest normal and the largest float32
TINY: tl.constexpr = tl.constexpr(1.1754943508222875e-38)
HUGE: tl.constexpr = tl.constexpr(3.4028234663852886e38)


@triton.jit
def _shift(z, n):  # type: ignore[no-untyped-def]
    return (z >> n) & ((tl.full((), 1, tl.int64) << (64 - n)) - 1)


@triton.jit
def _mix(z):  # type: ignore[no-untyped-def]
    z = (z ^ _shift(z, 30)) * _MIX_1
    z = (z ^ _shift(z, 27)) * _MIX_2
    return z ^ _shift(z, 31)


@triton.jit
def _scan(  # type: ignore[no-untyped-def]
    logits, draws, best, at, total, VOCAB: tl.constexpr, BLOCKS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """For one block of one row: the largest logit, where it is, and the block's share of the softmax's sum."""
    row, block = tl.program_id(0).to(tl.int64), tl.program_id(1)
    token = block * BLOCK + tl.arange(0, BLOCK)
    inside = token < VOCAB
    z = tl.load(logits + row * VOCAB + token, mask=inside, other=float("-inf")).to(tl.float32)
    unsound = tl.max((z != z).to(tl.int32), 0) > 0
    top = tl.max(tl.where(z != z, float("-inf"), z), 0)
    place = row * BLOCKS + block
    tl.store(best + place, tl.where(unsound, float("nan"), top))
    tl.store(at + place, block * BLOCK + tl.argmax(z, 0, tie_break_left=True))
    temperature = tl.load(draws + row * 3 + 2).to(tl.int32).to(tl.float32, bitcast=True)
    if temperature > 0:
        temperature = tl.minimum(tl.maximum(temperature, TINY), HUGE)
        weight = tl.where(top == float("-inf"), 0.0, tl.exp((z - top) / temperature))
        tl.store(total + place, tl.sum(weight, 0))


@triton.jit
def _pick(  # type: ignore[no-untyped-def]
    logits, draws, best, at, total, ids,
    VOCAB: tl.constexpr, BLOCKS: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr, NONE: tl.constexpr,
):  # fmt: skip
    """For one row: the token that its random number falls on; the most likely one where there is no temperature."""
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, WIDTH)
    there = lane < BLOCKS
    tops = tl.load(best + row * BLOCKS + lane, mask=there, other=float("-inf"))
    unsound = tl.max((tops != tops).to(tl.int32), 0) > 0
    top = tl.max(tl.where(tops != tops, float("-inf"), tops), 0)
    winner = tl.argmax(tl.where(tops != tops, float("-inf"), tops), 0, tie_break_left=True)
    token = tl.load(at + row * BLOCKS + winner)
    temperature = tl.load(draws + row * 3 + 2).to(tl.int32).to(tl.float32, bitcast=True)
    sound = (unsound == 0) & (top < float("inf")) & (top > float("-inf"))
    if sound & (temperature > 0):
        temperature = tl.minimum(tl.maximum(temperature, TINY), HUGE)
        seed, counter = tl.load(draws + row * 3), tl.load(draws + row * 3 + 1)
        bits = _shift(_mix(_mix(seed + _GOLDEN) + counter * _GOLDEN), 40)
        sums = tl.load(total + row * BLOCKS + lane, mask=there, other=0.0) * tl.exp((tops - top) / temperature)
        ends = tl.cumsum(sums, 0)
        target = bits.to(tl.float32) * 5.9604644775390625e-08 * tl.sum(sums, 0)  # 2**-24
        block = tl.min(tl.where((ends > target) & (sums > 0), lane, WIDTH), 0)
        if block < WIDTH:
            left = target - tl.sum(tl.where(lane < block, sums, 0.0), 0)
            inner = tl.arange(0, BLOCK)
            inside = block * BLOCK + inner < VOCAB
            z = tl.load(logits + row * VOCAB + block * BLOCK + inner, mask=inside, other=float("-inf")).to(tl.float32)
            weight = tl.exp((z - top) / temperature)
            beyond = (tl.cumsum(weight, 0) > left) & (weight > 0)
            offset = tl.min(tl.where(beyond, inner, BLOCK), 0)
            # rounding may leave a sliver behind the last token: it goes to the most likely one
            token = tl.where(offset < BLOCK, block * BLOCK + offset, token)
    tl.store(ids + row, tl.where(sound, token, NONE).to(tl.int64))


def choose(logits: torch.Tensor, draws: torch.Tensor) -> torch.Tensor:
    """One token a row: [N, vocab] contiguous, [N, 3] int64 (seed, counter, bits of the temperature) -> [N] int64.

    Temperature 0 is argmax, the lowest id among equals. Otherwise the token that the row's random number falls on when
    the softmax's probabilities lie end to end; the number follows from seed and counter, as in `engine.draw.uniforms`.
    A row with NaN or infinity among its logits, or all at -infinity, has NO_TOKEN.
    """
    rows, vocab = logits.shape
    blocks = triton.cdiv(vocab, BLOCK)
    best, total = torch.empty(2, rows, blocks, dtype=torch.float32, device=logits.device)
    at = torch.empty(rows, blocks, dtype=torch.int32, device=logits.device)
    ids = torch.empty(rows, dtype=torch.int64, device=logits.device)
    _scan[(rows, blocks)](logits, draws, best, at, total, VOCAB=vocab, BLOCKS=blocks, BLOCK=BLOCK, num_warps=8)
    _pick[(rows,)](
        logits, draws, best, at, total, ids,
        VOCAB=vocab, BLOCKS=blocks, WIDTH=triton.next_power_of_2(blocks), BLOCK=BLOCK, NONE=NO_TOKEN, num_warps=8,
    )  # fmt: skip
    return ids


class KernelSampler(Sampler):
    """The Sampler, with all rows but those under top-k or top-p chosen by `choose`.

    Which way a row goes depends on its own request only, so a seeded request has the same text in any batch.
    """

    def __call__(self, logits: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, ...]:
        """See Chooser."""
        reqs, vocab = batch.emitting, logits.shape[-1]
        ids = choose(logits, self._draws(batch, logits.device))
        filtered = [i for i, req in enumerate(reqs) if req.params.temperature > 0 and filters_tokens(req, vocab)]
        if filtered:
            drawn = ids.clone()
            self._draw(drawn, logits, batch, filtered)
            ids = drawn.where(ids != NO_TOKEN, NO_TOKEN)
        asked = [i for i, req in enumerate(reqs) if req.logprobs is not None]
        if not asked:
            return (ids,)
        return (ids, *report(logits, ids, asked, max(reqs[i].params.logprobs or 0 for i in asked)))

    def _draws(self, batch: Batch, device: torch.device) -> torch.Tensor:
        """(seed, counter, bits of the temperature) of each emitting entry, [E, 3]."""
        reqs = batch.emitting
        temperatures = [req.params.temperature for req in reqs]
        if not any(temperatures):
            return torch.zeros(len(reqs), 3, dtype=torch.int64, device=device)
        entries = range(len(reqs)) if batch.emits is None else batch.emits
        pairs = [self._random(req, batch, entry) for req, entry in zip(reqs, entries, strict=True)]
        flat = chain.from_iterable((*pair, bits) for pair, bits in zip(pairs, float_bits(temperatures), strict=True))
        return upload(device, list(flat))[0].view(-1, 3)
