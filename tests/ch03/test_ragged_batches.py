"""Ragged batches over a dense cache: the same answers as one request at a time."""

from __future__ import annotations

import pytest
import torch

from minisgl_lite.attention.dense import DenseAttention, DenseCache
from minisgl_lite.core import Batch, Req, SamplingParams
from minisgl_lite.engine.inputs import ragged, upload
from minisgl_lite.models.checkpoint import Checkpoint, load
from minisgl_lite.models.greedy import generate_greedy

CPU = torch.device("cpu")
TEXTS = ["The capital of France is", "Once upon a time,", "1 + 1 ="]


@pytest.fixture(scope="module")
def tiny() -> Checkpoint:
    return load("tiny", dtype="float32", device="cpu")


@torch.inference_mode()
def forward(tiny: Checkpoint, cache: DenseCache, batch: Batch) -> list[int]:
    emits = range(len(batch.reqs)) if batch.emits is None else batch.emits
    ids = batch.ids or [req.input_ids[-1] for req in batch.reqs]
    starts, lens, tokens, emit = upload(CPU, batch.starts, batch.lens, ids, emits)
    layout = ragged(starts, lens, len(ids))
    attend = DenseAttention(cache, batch.rows, batch.starts, batch.lens)
    hidden = tiny.decoder.forward(tokens, layout.positions, attend)
    return tiny.decoder.logits(hidden[layout.ends[emit] - 1]).argmax(-1).tolist()


def settle(batch: Batch, tokens: list[int]) -> None:
    for req, n in zip(batch.reqs, batch.lens, strict=True):
        req.cached_len += n
    for req, token in zip(batch.emitting, tokens, strict=True):
        req.input_ids.append(token)


@pytest.mark.parametrize("piece", [100, 3, 1])
def test_batching_changes_no_token(tiny: Checkpoint, piece: int) -> None:
    """Prompts in pieces of at most `piece` tokens, side by side, then decode: each request's own greedy tokens."""
    lengths = [3, 9, 1]
    reqs = [
        Req(uid, tiny.encode(text), SamplingParams(max_tokens=n))
        for uid, (text, n) in enumerate(zip(TEXTS, lengths, strict=True))
    ]
    cache = DenseCache(tiny.config, rows=3, max_len=max(req.limit for req in reqs))
    for row, req in enumerate(reversed(reqs)):
        req.table_idx = row
    while waiting := [req for req in reqs if req.cached_len < req.prompt_len]:
        batch = Batch("prefill")
        for req in waiting:
            batch.add(req, min(piece, req.prompt_len - req.cached_len))
        settle(batch, forward(tiny, cache, batch))
    while running := [req for req in reqs if req.can_decode]:
        starts, rows = [req.cached_len for req in running], [req.row for req in running]
        batch = Batch("decode", running, starts, [1] * len(running), rows)
        settle(batch, forward(tiny, cache, batch))
    for req, text, n in zip(reqs, TEXTS, lengths, strict=True):
        assert req.input_ids[req.prompt_len :] == generate_greedy(tiny, tiny.encode(text), n, ignore_eos=True)
        assert req.cached_len == req.limit
