"""What the judge asks of the student's code: chapter 03. Runs in the graded process; returns plain values."""

from __future__ import annotations

import contextlib
from typing import Any

import torch

from minisgl_lite.attention.dense import DenseAttention, DenseCache
from minisgl_lite.core import Batch, InvariantError, Req, SamplingParams
from minisgl_lite.engine.inputs import Ragged, ragged, upload
from minisgl_lite.models.checkpoint import Checkpoint, load
from workbook.judge.calls import call
from workbook.judge.watching import MAKERS, Calls, Operations

CPU, META = torch.device("cpu"), torch.device("meta")


def probe_upload(args: dict[str, Any]) -> dict[str, Any]:
    """The lists that come back, their dtypes, the pieces of memory behind them, and the copies to another device."""
    parts = call(upload, CPU, *args["parts"])
    # a tensor of the meta device has no memory, so a copy to it costs nothing, but it is counted all the same
    with Operations() as operations, Calls() as calls:
        sent = upload(META, *args["parts"])
    return {
        "lists": [part.tolist() for part in parts],
        "dtypes": [str(part.dtype) for part in parts],
        "devices": [part.device.type for part in sent],
        "memories": len({part.untyped_storage().data_ptr() for part in parts if len(part)}),
        "copies": max(
            sum(name in ("_to_copy", "copy_") for name in operations.names), sum(name in MAKERS for name in calls.names)
        ),
        "operations": len(operations.names),
    }


def probe_ragged(args: dict[str, Any]) -> dict[str, Any]:
    """The layout of a batch, the operations it took and the calls that wait for the device."""
    starts = torch.tensor(args["starts"], dtype=torch.int64)
    lens = torch.tensor(args["lens"], dtype=torch.int64)
    with Operations() as operations, Calls() as calls:
        layout = call(ragged, starts, lens, sum(args["lens"]), returns=Ragged)
    return {
        "positions": layout.positions.tolist(),
        "entry": layout.entry.tolist(),
        "ends": layout.ends.tolist(),
        "operations": len(operations.names),
        "waits": calls.waits + operations.waits,
    }


def probe_ragged_devices(args: dict[str, Any]) -> list[str]:
    """Where tensors are made when starts and lens are on the meta device."""
    starts, lens = torch.zeros(2, 3, dtype=torch.int64, device=META)
    with Operations() as operations, contextlib.suppress(RuntimeError):  # two devices in one operation, for instance
        ragged(starts, lens, 7)
    return sorted(operations.devices)


def admitted(uid: int, prompt: list[int], max_tokens: int = 4) -> Req:
    """A request that has a row."""
    req = Req(uid, prompt, SamplingParams(max_tokens=max_tokens))
    req.table_idx = uid + 10
    return req


def probe_can_decode(args: dict[str, Any]) -> list[bool]:
    """can_decode at every cached_len from 0 to past the end; `late` sampled tokens have not arrived yet."""
    req, answers = admitted(0, [5] * args["prompt_len"], args["max_tokens"]), []
    for cached_len in range(args["prompt_len"] + args["max_tokens"] + 2):
        req.cached_len = cached_len
        req.input_ids = [5] * max(req.prompt_len, cached_len + 1 - args["late"])
        answers.append(req.can_decode)
    return answers


def probe_no_row(args: dict[str, Any]) -> dict[str, Any]:
    """Add a request that was never admitted: was it refused, and which row does the batch name otherwise?"""
    batch = Batch("prefill")
    try:
        call(batch.add, Req(0, [5, 6], SamplingParams()), 2, name="Batch.add")
    except InvariantError:
        return {"refused": True}
    return {"refused": False, "rows": batch.rows}


def probe_batch(args: dict[str, Any]) -> dict[str, Any]:
    """Add entries ([prompt, cached_len, n]) to one batch, move the requests on, then look at the batch."""
    batch = Batch("prefill")
    moved = []
    for uid, (prompt, cached_len, n) in enumerate(args["entries"]):
        req = admitted(uid, prompt)
        req.cached_len = cached_len
        call(batch.add, req, n, name="Batch.add")
        moved.append(req.cached_len)
        if args["move"]:
            req.cached_len += n
            req.input_ids.append(1)
    return {
        "cached": moved,
        "reqs": [req.uid for req in batch.reqs],
        "uids": batch.uids,
        "starts": batch.starts,
        "lens": batch.lens,
        "rows": batch.rows,
        "ids": batch.ids,
        "emits": batch.emits,
        "emitting": [req.uid for req in batch.emitting],
    }


@torch.inference_mode()
def forward(checkpoint: Checkpoint, cache: DenseCache, batch: Batch) -> list[int]:
    """The greedy token of each emitting entry."""
    emits = range(len(batch.reqs)) if batch.emits is None else batch.emits
    ids = batch.ids or [req.input_ids[-1] for req in batch.reqs]
    starts, lens, ids_, emit = upload(CPU, batch.starts, batch.lens, ids, emits)
    layout = ragged(starts, lens, len(ids))
    attend = DenseAttention(cache, batch.rows, batch.starts, batch.lens)
    hidden = checkpoint.decoder.forward(ids_, layout.positions, attend)
    tokens: list[int] = checkpoint.decoder.logits(hidden[layout.ends[emit] - 1]).argmax(-1).tolist()
    return tokens


def settle(batch: Batch, tokens: list[int]) -> None:
    """Move the requests on and give each its token."""
    for req, n in zip(batch.reqs, batch.lens, strict=True):
        req.cached_len += n
    for req, token in zip(batch.emitting, tokens, strict=True):
        req.input_ids.append(token)


def probe_serve(args: dict[str, Any]) -> list[list[int]]:
    """Greedy tokens of the bundled model: prompts in pieces of at most `piece` tokens, then decode, all in batches."""
    checkpoint = load("tiny", dtype="float32", device="cpu")
    params = SamplingParams(max_tokens=args["max_tokens"])
    reqs = [Req(uid, prompt, params) for uid, prompt in enumerate(args["prompts"])]
    for row, req in enumerate(reqs):
        req.table_idx = row
    cache = DenseCache(checkpoint.config, len(reqs), max(req.limit for req in reqs))
    while todo := [req for req in reqs if req.cached_len < req.prompt_len]:
        batch = Batch("prefill")
        for req in todo:
            batch.add(req, min(args["piece"], req.prompt_len - req.cached_len))
        settle(batch, forward(checkpoint, cache, batch))
    rounds = 0
    while (running := [req for req in reqs if req.can_decode]) and rounds < args["max_tokens"]:
        starts, rows = [req.cached_len for req in running], [req.row for req in running]
        batch = Batch("decode", reqs=running, starts=starts, lens=[1] * len(running), rows=rows)
        settle(batch, forward(checkpoint, cache, batch))
        rounds += 1
    return [req.input_ids[req.prompt_len :] for req in reqs]
