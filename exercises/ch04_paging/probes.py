"""What the judge asks of the student's code: chapter 04. Runs in the graded process; returns plain values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from minisgl_lite.attention.paged import TorchPagedAttention
from minisgl_lite.core import Batch, Phase, Req, SamplingParams
from minisgl_lite.engine import slots
from minisgl_lite.engine.inputs import upload
from minisgl_lite.engine.slots import StepInputs, Tables
from minisgl_lite.kvcache.pages import PageAllocator
from minisgl_lite.kvcache.pool import KVPool
from minisgl_lite.models.checkpoint import load
from workbook.judge.calls import call
from workbook.judge.watching import MAKERS, Calls, Operations

CPU = torch.device("cpu")

# ---- 04.1 ----


def probe_pages_for(args: dict[str, Any]) -> list[Any]:
    """How many pages the allocator counts for each number of tokens."""
    allocator = PageAllocator(64, args["page_size"])
    return [call(allocator.pages_for, n, name="PageAllocator.pages_for") for n in args["tokens"]]


def pages_in(values: Iterable[object]) -> list[Any]:
    """Page numbers as they are; whatever else is among them by the name of its type."""
    return [page if type(page) is int else type(page).__name__ for page in values]


def probe_pages(args: dict[str, Any]) -> list[dict[str, Any]]:
    """Play takes and gives; after each, what came back and what is free. give: index of an earlier step's pages."""
    allocator = PageAllocator(args["num_pages"], 4)
    taken: dict[int, list[int]] = {}
    seen = []
    for step, (what, n) in enumerate(args["steps"]):
        pages, raised, message = None, "", ""
        if what == "take":
            try:
                answer = allocator.take(n)
                pages = pages_in(answer) if type(answer) is list else repr(answer)
                if type(answer) is list:
                    taken[step] = list(answer)
                    answer.append(-1)  # the list is the caller's: this must do no harm
            except Exception as error:
                raised, message = type(error).__name__, str(error)
        else:
            call(allocator.give, (page for page in taken.pop(n, [])), name="PageAllocator.give")
        seen.append({"pages": pages, "raised": raised, "message": message, "free": pages_in(allocator.snapshot())})
    return seen


# ---- 04.2 ----


def tables_of(args: dict[str, Any]) -> Tables:
    """Tables with the contents that the judge chose."""
    pages, tokens = torch.tensor(args["page_table"]), torch.tensor(args["token_pool"])
    tables = Tables(len(tokens), tokens.shape[1] - 1, args["page_size"], CPU)
    tables.page_table.copy_(pages)
    tables.token_pool.copy_(tokens)
    return tables


def probe_slots(args: dict[str, Any]) -> Any:
    """The slots of positions."""
    rows, positions = torch.tensor(args["rows"]), torch.tensor(args["positions"])
    return call(tables_of(args).slots, rows, positions, returns=torch.Tensor, name="Tables.slots").tolist()


def probe_decode(args: dict[str, Any]) -> dict[str, Any]:
    """The inputs of one decode step, and the page table after it."""
    tables = tables_of(args)
    reqs = [Req(uid, [1], SamplingParams()) for uid in range(len(args["rows"]))]
    new = args["new_pages"]
    batch = Batch("decode", reqs, args["starts"], [1] * len(reqs), args["rows"], new_pages=(new[0], new[1], new[2]))
    name = f"a decode step of pages of {args['page_size']}, rows {batch.rows}, starts {batch.starts}: Tables.build"
    inputs = call(tables.build, batch, returns=StepInputs, name=name)
    out = {name: plain_field(inputs, name) for name in StepInputs._fields}
    tensors = [name for name in ("starts", "lens") if isinstance(getattr(inputs, name), torch.Tensor)]
    table = inputs.page_table
    whole = isinstance(table, torch.Tensor) and table.data_ptr() == tables.page_table.data_ptr()
    hosts = {"starts", "lens", "last"}  # last may be None; all the rest goes to the device
    unlike = [[name, type(value).__name__] for name, value in inputs._asdict().items() if name not in hosts]
    return {
        **out,
        "tensors": tensors,
        "given_table": list(table.shape) if isinstance(table, torch.Tensor) else type(table).__name__,
        "whole_table": whole and table.shape == tables.page_table.shape,
        "no_tensors": [[name, kind] for name, kind in unlike if kind != "Tensor"],
        "page_table": tables.page_table.tolist(),
        "token_pool": tables.token_pool.tolist(),
    }


def probe_work(args: dict[str, Any]) -> dict[str, Any]:
    """What one decode step costs: copies from the host, calls that wait for the device, operations, other devices.

    On the meta device, where nothing has contents and no copy costs. lists: those that are not the batch's own.
    """
    calls, operations, uploads = Calls(), Operations(), []

    def counted(*parts: Any) -> Any:
        uploads.append(len(parts))
        calls.on = operations.on = False
        try:
            return upload(*parts)
        finally:
            calls.on = operations.on = True

    tables = Tables(64, 64, args["page_size"], torch.device("meta"))
    rows = list(range(args["rows"]))
    starts = [8] * len(rows)
    columns = [start // args["page_size"] for start in starts]
    reqs = [Req(uid, [1], SamplingParams()) for uid in rows]
    batch = Batch("decode", reqs, starts, [1] * len(rows), rows, new_pages=(rows, columns, rows))
    slots.upload = counted
    inputs, raised = None, ""
    try:
        with operations, calls:
            inputs = tables.build(batch)
    except RuntimeError as error:  # two devices in one operation, for instance
        raised = f"{type(error).__name__}: {error}"
    finally:
        slots.upload = upload
    made = sum(name in MAKERS for name in calls.names)
    lists = [name for name in ("starts", "lens") if getattr(inputs, name, None) is not getattr(batch, name)]
    return {
        "copies": len(uploads) + made,
        "waits": calls.waits + operations.waits,
        "built": isinstance(inputs, StepInputs),
        "lists": lists,
        "raised": raised,
        "operations": len(operations.names),
        "devices": sorted(operations.devices),
    }


def plain_field(inputs: StepInputs, name: str) -> Any:
    """One field of the inputs as lists."""
    value = getattr(inputs, name)
    if value is None:
        return None
    return value.tolist() if isinstance(value, torch.Tensor) else list(value)


# ---- all ----


class Hand:
    """The bundled model, its pool and its tables, driven without a scheduler."""

    def __init__(self, page_size: int, rows: int) -> None:
        self.checkpoint = load("tiny")
        config = self.checkpoint.config
        pages = rows * -(-256 // page_size)
        self.allocator = PageAllocator(pages, page_size)
        shape = (config.num_layers, pages, page_size, config.num_kv_heads, config.head_dim)
        self.tables, self.pool = Tables(rows, 256, page_size, CPU), KVPool(*shape, torch.float32, CPU)
        # what nobody has written must never be read: it would show
        self.pool.k.fill_(1e4)
        self.pool.v.fill_(1e4)
        self.attention = TorchPagedAttention(self.pool)

    def plan(self, phase: Phase, reqs: list[Req]) -> Batch:
        """A batch of whole prompts, or of one more position each, with the pages that they need."""
        batch = Batch(phase)
        for req in reqs:
            n = req.prompt_len if phase == "prefill" else 1
            have = len(req.pages)
            new = self.allocator.take(self.allocator.pages_for(req.cached_len + n) - have)
            for part, values in zip(
                batch.new_pages, ([req.row] * len(new), range(have, have + len(new)), new), strict=True
            ):
                part.extend(values)
            req.pages += new
            batch.add(req, n)
            req.cached_len += n
        if phase == "decode":
            batch.ids = []
        return batch

    @torch.inference_mode()
    def forward(self, batch: Batch) -> list[int]:
        """Run the batch; sampled tokens go to the token pool and come back as a list."""
        inputs, decoder = self.tables.build(batch), self.checkpoint.decoder
        hidden = decoder.forward(inputs.ids, inputs.positions, self.attention.prepare(inputs))
        ids = decoder.logits(hidden if inputs.last is None else hidden[inputs.last]).argmax(-1)
        self.tables.token_pool[inputs.emit_rows, inputs.emit_cols] = ids
        tokens: list[int] = ids.tolist()
        return tokens


def probe_generate(args: dict[str, Any]) -> list[list[int]]:
    """Greedy tokens of the bundled model; the last prompt starts when the first request has left."""
    hand = Hand(args["page_size"], len(args["prompts"]))
    reqs = [Req(uid, prompt, SamplingParams()) for uid, prompt in enumerate(args["prompts"])]
    out: list[list[int]] = [[] for _ in reqs]

    def step(phase: Phase, members: list[Req]) -> None:
        for req, token in zip(members, hand.forward(hand.plan(phase, members)), strict=True):
            out[req.uid].append(token)

    *early, late = reqs
    for req in early:
        req.table_idx = len(reqs) - 1 - req.uid
    step("prefill", early)
    for _ in range(args["max_tokens"] - 1):
        step("decode", early)
    hand.allocator.give(early[0].pages)
    late.table_idx = early[0].table_idx  # its row and its pages still hold what they held
    step("prefill", [late])
    for _ in range(args["max_tokens"] - 1):
        step("decode", [late])
    return out
