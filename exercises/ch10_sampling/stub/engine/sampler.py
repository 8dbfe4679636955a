"""The Sampler: temperature, top-k, top-p, seeds, log-probabilities. Chapter 10."""

from __future__ import annotations

import math
import secrets
from array import array
from collections.abc import Sequence

import torch

from ..core import NO_TOKEN, Batch, Req, SamplingParams
from ..values import shown
from .draw import draw, draw_filtered, probabilities, uniforms
from .inputs import upload

MAX_LOGPROBS = 20


class Sampler:
    """Chooses a token for each row by its own request's parameters, all rows at once.

    Rows at temperature 0 are argmax, whatever else is in the batch. A row whose logits are not numbers has NO_TOKEN;
    the others do not notice. A request with a seed gets the same random numbers in any batch, on any engine; one
    without gets others in each run.
    """

    def __init__(self, entropy: int | None = None) -> None:
        """`entropy`: what requests without a seed are drawn from; None: something new."""
        self.entropy = _signed(secrets.randbits(64) if entropy is None else entropy)

    def check(self, params: SamplingParams) -> None:
        """Raise ValueError naming the field, its value and its limit."""
        try:
            finite = math.isfinite(params.temperature)
        except OverflowError:  # an integer that no float is large enough for
            finite = False
        if not finite:
            raise ValueError(f"temperature is {shown(params.temperature)}; it must be a finite number")
        if params.seed is not None and type(params.seed) is not int:
            raise ValueError(f"seed is {shown(params.seed)}; it must be an integer or None")
        n = params.logprobs
        if n is not None and not (type(n) is int and 0 <= n <= MAX_LOGPROBS):
            raise ValueError(f"logprobs is {shown(n)}; it must be an integer from 0 to {MAX_LOGPROBS}, or None")
        stop = params.stop
        if not (isinstance(stop, tuple) and all(isinstance(text, str) and text for text in stop)):
            raise ValueError(f"stop is {shown(stop)}; it must be a sequence of strings that are not empty")

    def __call__(self, logits: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, ...]:
        """See Chooser. Returns ids [E] or, where log-probabilities are asked for, also what `report` makes of them."""
        raise NotImplementedError("exercise 10.2: write the body of Sampler.__call__")

    def _draw(self, ids: torch.Tensor, logits: torch.Tensor, batch: Batch, rows: list[int]) -> None:
        """Replace ids [E] of the rows that are sampled. One upload, a fixed number of operations."""
        reqs = batch.emitting
        entries = rows if batch.emits is None else [batch.emits[i] for i in rows]
        drawn = [reqs[i] for i in rows]
        pairs = [self._random(req, batch, entry) for req, entry in zip(drawn, entries, strict=True)]
        vocab = logits.shape[-1]
        # a row that filters nothing needs no sorting; which way a row goes depends on its own request only
        filters = [filters_tokens(req, vocab) for req in drawn]
        at, seeds, counters, temperature, top_k, top_p, plain, filtered = upload(
            logits.device,
            rows,
            [seed for seed, _ in pairs],
            [counter for _, counter in pairs],
            float_bits([req.params.temperature for req in drawn]),
            [min(req.params.top_k, vocab) if req.params.top_k > 0 else vocab for req in drawn],
            float_bits([req.params.top_p for req in drawn]),
            [n for n, some in enumerate(filters) if not some],
            [n for n, some in enumerate(filters) if some],
        )
        u, probs = uniforms(seeds, counters), probabilities(logits[at], _floats(temperature))
        if len(plain):
            ids[at[plain]] = draw(probs[plain], u[plain])
        if len(filtered):
            k, p = top_k[filtered], _floats(top_p)[filtered]
            ids[at[filtered]] = draw_filtered(probs[filtered], k, p, u[filtered])

    def _random(self, req: Req, batch: Batch, entry: int) -> tuple[int, int]:
        """(seed, counter) of the number that decides this entry's token."""
        raise NotImplementedError("exercise 10.2: write the body of Sampler._random")

    def read(self, batch: Batch, arrived: Sequence[torch.Tensor]) -> list[int]:
        """See Chooser. Appends to `logprobs` of the requests that ask for them and have not ended."""
        ids: list[int] = arrived[0].tolist()
        if len(arrived) > 1:
            own, best, best_ids = (tensor.tolist() for tensor in arrived[1:])
            asked = [i for i, req in enumerate(batch.emitting) if req.logprobs is not None]
            for row, i in enumerate(asked):
                req = batch.emitting[i]
                if req.logprobs is not None and req.finish_reason is None and ids[i] != NO_TOKEN:
                    n = req.params.logprobs or 0
                    top = dict(zip(best_ids[row][:n], best[row][:n], strict=True))
                    req.logprobs.append({ids[i]: own[row]} | top)
        return ids


def filters_tokens(req: Req, vocab: int) -> bool:
    """Whether top-k or top-p may take tokens away from a request."""
    return req.params.top_p < 1 or 0 < req.params.top_k < vocab


def report(logits: torch.Tensor, ids: torch.Tensor, rows: list[int], n: int) -> tuple[torch.Tensor, ...]:
    """Of the model's own distribution, before temperature and filters, for R rows of logits [E, vocab].

    Returns the log-probabilities of `ids` [R], the n largest [R, n] and whose they are [R, n]; n at most vocab.
    """
    (at,) = upload(logits.device, rows)
    logprobs = torch.log_softmax(logits[at].float(), -1)
    best = logprobs.topk(min(n, logits.shape[-1]), -1)
    return logprobs.gather(-1, ids[at, None].clamp(min=0))[:, 0], best.values, best.indices


def _signed(value: int) -> int:
    """The same 64 bits as an int64."""
    return ((value + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


def float_bits(values: list[float]) -> list[int]:
    """float32 numbers as integers, so that they travel with the integers."""
    return array("i", array("f", values).tobytes()).tolist()


def _floats(bits: torch.Tensor) -> torch.Tensor:
    """The numbers of `float_bits`, on the device."""
    return bits.to(torch.int32).view(torch.float32)
