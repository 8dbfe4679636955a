"""What the judge asks of the student's code: chapter 12. Runs in the graded process; returns plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from minisgl_lite import LLM, SamplingParams
from minisgl_lite.assembly import Custom, assemble
from minisgl_lite.config import EngineConfig
from minisgl_lite.core import Batch, Req
from minisgl_lite.engine.buckets import Padded, bucket_for, bucket_sizes, pad
from minisgl_lite.engine import graph as graph_module
from minisgl_lite.engine.engine import Engine
from minisgl_lite.engine.graph import DecodeGraph, GraphRunner
from minisgl_lite.engine.inputs import upload
from minisgl_lite.engine.tape import record, tape_decode
from minisgl_lite.kvcache.pool import KVPool
from workbook.judge.calls import WrongReturnError, call
from workbook.judge.model import bundled_model
from workbook.judge.watching import MAKERS, Calls


def decode_batch(entries: list[list[Any]], index: int = 1) -> Batch:
    """entries: [row, start, pages]; uids are the entries' numbers."""
    reqs = []
    for uid, (row, start, pages) in enumerate(entries):
        req = Req(uid, [5] * start, SamplingParams(max_tokens=9))
        req.table_idx, req.cached_len, req.pages = row, start + 1, list(pages)
        reqs.append(req)
    starts, rows = [e[1] for e in entries], [e[0] for e in entries]
    return Batch("decode", reqs, starts, [1] * len(reqs), rows, index=index)


# ---- 12.1: buckets --------------------------------------------------------------------------------------------------


def probe_sizes(args: dict[str, Any]) -> list[list[int]]:
    """bucket_sizes of each."""
    return [call(bucket_sizes, most, returns=list) for most in args["most"]]


def probe_fits(args: dict[str, Any]) -> list[int | None]:
    """bucket_for of each (sizes, entries)."""
    return [call(bucket_for, sizes, entries) for sizes, entries in args["questions"]]


# ---- 12.2: padding --------------------------------------------------------------------------------------------------


def probe_pad(args: dict[str, Any]) -> dict[str, Any]:
    """A padded batch, and whether the batch is still what it was."""
    batch = decode_batch(args["entries"])
    before = told(batch)
    padded = call(pad, batch, args["size"], returns=Padded)
    return {"padded": [list(part) for part in padded], "changed": told(batch) != before}


def told(batch: Batch) -> list[Any]:
    """All that a batch of these probes holds, copied."""
    lists = (batch.rows, batch.starts, batch.lens, batch.uids)
    return [*map(list, lists), [list(req.pages) for req in batch.reqs], len(batch.reqs)]


# ---- 12.3: the graph ------------------------------------------------------------------------------------------------

FIELDS = 4


class Copies(Calls):
    """Counts what is sent to the device: uploads, and tensors that are made of what the host has."""

    def __init__(self) -> None:
        super().__init__()
        self.uploads, self.on = 0, False

    def upload(self, *parts: Any) -> Any:
        """In place of `upload`."""
        self.uploads += 1
        with self.aside():
            return upload(*parts)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is done here is not the student's."""
        before, self.on = self.on, False
        try:
            yield
        finally:
            self.on = before

    def take(self) -> int:
        """How many there were since the last time."""
        count = self.uploads + sum(name in MAKERS for name in self.names)
        self.uploads = 0
        self.names.clear()
        return count


class Echo:
    """A decoder whose logits tell what it was given: [token, position, slot, positions attended to] of each entry."""

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, attend: Callable[..., Any]) -> torch.Tensor:
        """See CausalLM."""
        slots, lens = attend(0, ids, ids, ids)
        return torch.stack([ids, positions, slots, lens], 1).double()

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """See CausalLM."""
        return hidden * 1.0


class Told:
    """A PlannedAttention that notes its plans, and tells the graph what it was told last."""

    def __init__(self, size: int, log: list[Any], copies: Copies) -> None:
        self.lens, self.log, self.copies = torch.ones(size, dtype=torch.int64), log, copies

    def plan(self, starts: Sequence[int]) -> None:
        """See PlannedAttention."""
        self.log.append(["plan", list(starts)])
        with self.copies.aside():
            lens = torch.tensor(list(starts)) + 1
            self.lens[: len(lens)] = lens[: len(self.lens)]

    def prepare(self, inputs: Any) -> Callable[..., Any]:
        """See PlannedAttention."""
        return lambda *_: (inputs.out_loc, self.lens)


def bare_engine(decoder: Any, attention: Any, page_size: int, rows: int, length: int, pages: int) -> Engine:
    """An engine without a model; token pool and page table hold numbers that tell where they are from."""
    from minisgl_lite.engine.choose import Greedy
    from minisgl_lite.engine.slots import Tables

    device = torch.device("cpu")
    pool = KVPool(1, pages, page_size, 1, 2, torch.float32, device)
    tables = Tables(rows, length, page_size, device)
    tables.token_pool.copy_(torch.arange(rows)[:, None] * 1000 + torch.arange(length + 1))
    tables.page_table.fill_(-1)
    return Engine(decoder, pool, tables, attention, Greedy())


@torch.inference_mode()
def probe_steps(args: dict[str, Any]) -> list[dict[str, Any]]:
    """Batches through one DecodeGraph on tape: what came back, and in which order what was done."""
    size, log, copies = args["size"], [], Copies()
    attention = Told(size, log, copies)
    engine = bare_engine(Echo(), attention, args["page_size"], 16, 64, 64)

    def capture(work: Callable[[], None]) -> Callable[[], None]:
        tape = record(work)

        def launch() -> None:
            log.append(["launch"])
            with copies.aside():
                tape()

        return launch

    graph, seen = DecodeGraph(engine, attention, size, capture), []
    for entries in args["batches"]:
        log.clear()
        batch = decode_batch(entries)
        name = f"a graph of {size}, a batch of {len(entries)}: DecodeGraph.run"
        graph_module.upload = copies.upload
        copies.on = True
        try:
            with copies:
                back = call(graph.run, batch, returns=tuple, name=name)
        finally:
            graph_module.upload, copies.on = upload, False
        kinds = [type(part).__name__ for part in back]
        if kinds != ["Tensor"] * 3:
            raise WrongReturnError(f"{name} returned ({', '.join(kinds)}); expected three tensors")
        told_back = {part: value.tolist() for part, value in zip(("logits", "rows", "ends"), back, strict=True)}
        seen.append({**told_back, "log": list(log), "copies": copies.take()})
    return seen


class Numbered:
    """In place of a DecodeGraph: notes the batch."""

    def __init__(self, size: int, log: list[Any]) -> None:
        self.size, self.log = size, log

    def run(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """See DecodeGraph. The logits tell the size of the graph."""
        self.log.append(["graph", self.size, batch.index])
        rows = torch.tensor(batch.rows)
        return torch.full((len(rows), 1), float(self.size)), rows, torch.tensor(batch.starts) + 1


class Chooses:
    """In place of an Engine: notes what it is asked."""

    def __init__(self, log: list[Any]) -> None:
        self.log = log

    def forward_batch(self, batch: Batch) -> str:
        """See Engine."""
        self.log.append(["engine", batch.index])
        return "output of the engine"

    def choose_from(self, batch: Batch, logits: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> str:
        """See Engine."""
        self.log.append(["choose", batch.index, logits.flatten().tolist(), rows.tolist(), columns.tolist()])
        return "output of choose_from"


def probe_routes(args: dict[str, Any]) -> list[dict[str, Any]]:
    """batches: [phase, entries]. sizes: of the graphs, in the order in which they were recorded."""
    log: list[Any] = []
    runner: Any = GraphRunner(Chooses(log), [Numbered(size, log) for size in args["sizes"]])  # type: ignore[arg-type, misc]
    seen = []
    for index, (phase, n) in enumerate(args["batches"], 1):
        log.clear()
        batch = decode_batch([[row, 5 + row, [row]] for row in range(n)], index)
        batch.phase = phase
        name = f"graphs of {args['sizes']}, a {phase} of {n}: GraphRunner.forward_batch"
        output = call(runner.forward_batch, batch, returns=str, name=name)
        seen.append({"log": list(log), "output": output})
    return seen


# ---- the bundled model ----------------------------------------------------------------------------------------------


class Accounted:
    """A runner that finds out what each step has changed: pool, token pool and page table, beyond what is its own."""

    def __init__(self, runner: Any, engine: Engine) -> None:
        self.runner, self.engine = runner, engine
        self.foreign: list[list[Any]] = []

    def forward_batch(self, batch: Batch) -> Any:
        """See Runner."""
        engine = self.engine
        watched = (engine.pool.k, engine.pool.v, engine.tables.token_pool, engine.tables.page_table)
        before = [part.clone() for part in watched]
        output = self.runner.forward_batch(batch)
        if batch.phase == "decode":
            changed = [old != new for old, new in zip(before, watched, strict=True)]
            slots = (changed[0] | changed[1]).flatten(2).any(2).any(0).nonzero()[:, 0].tolist()
            size = engine.pool.page_size
            # without a graph, the rest of a page that an entry begins is cleared: it is its own
            mine = {req.pages[-1] * size + offset for req in batch.reqs for offset in range(size)}
            cells = {(row, start + 1) for row, start in zip(batch.rows, batch.starts, strict=True)}
            entries = {(row, start // size) for row, start in zip(batch.rows, batch.starts, strict=True)}
            self.foreign += [["slot", batch.index, slot] for slot in slots if slot not in mine]
            for what, part, own in (("token", changed[2], cells), ("page table", changed[3], entries)):
                self.foreign += [
                    [what, batch.index, cell] for cell in part.nonzero().tolist() if tuple(cell) not in own
                ]
        return output

    def now(self) -> float:
        """See Runner."""
        return self.runner.now()


def probe_generate(args: dict[str, Any]) -> dict[str, Any]:
    """The bundled model with graphs on tape of the student's sizes, request `i` submitted before step arrivals[i].

    Invariants are checked after every step. Answers with the token ids, and with what was written beside them.
    """
    watched: list[Accounted] = []

    def around(engine: Any) -> Any:
        for part in (engine.pool.k, engine.pool.v):
            part.fill_(7.5)
        engine.tables.page_table.fill_(1)
        runner = tape_decode(engine, call(bucket_sizes, args["most"], returns=list))
        watched.append(Accounted(runner, engine))
        return watched[0]

    config = {"num_pages": args["pages"], "page_size": args["page_size"], "max_running_req": args["rows"]}
    params = [SamplingParams(max_tokens=n, ignore_eos=True) for n in args["tokens"]]
    options = {**config, "max_seq_len": 128, "cache_type": "naive"}
    told: list[list[int]] = [[] for _ in params]
    numbers: dict[int, int] = {}
    with LLM(bundled_model(), overlap=args["overlap"], custom=Custom(around_runner=around), **options) as llm:
        name = f"graphs up to {args['most']}: LLM.step"
        step = 0
        while llm.has_work or len(numbers) < len(params):
            for number, at in enumerate(args["arrivals"]):
                if at == step:
                    numbers[llm.submit(args["prompts"][number], params[number])] = number
            for uid, token, _ in call(llm.step, name=name):
                told[numbers[uid]] += [] if token is None else [token]
            llm.check_invariants()
            step += 1
    return {"tokens": told, "foreign": watched[0].foreign[:5]}


@torch.inference_mode()
def probe_written(args: dict[str, Any]) -> dict[str, Any]:
    """One decode step of the bundled model in a graph on tape, its entries where `entries` says: all places changed."""
    size = args["page_size"]
    config = EngineConfig("tiny", num_pages=24, page_size=size, max_running_req=12, max_seq_len=64, cache_type="naive")
    engine = assemble(config).engine
    runner = tape_decode(engine, [args["graph"]])
    tables, pool = engine.tables, engine.pool
    generator = torch.Generator().manual_seed(args["seed"])
    for part in (pool.k, pool.v):
        part.copy_(torch.randn(part.shape, generator=generator))
    tables.token_pool.copy_(torch.randint(100, 2000, tables.token_pool.shape, generator=generator))
    tables.page_table.fill_(23)
    for row, _, pages in args["entries"]:
        tables.page_table[row, : len(pages)] = torch.tensor(pages)
    batch = decode_batch(args["entries"])
    before = [part.clone() for part in (pool.k, pool.v, tables.token_pool, tables.page_table)]
    call(runner.forward_batch, batch, name=f"a graph of {args['graph']}: GraphRunner.forward_batch")
    changed = [
        old != new for old, new in zip(before, (pool.k, pool.v, tables.token_pool, tables.page_table), strict=True)
    ]
    slots = (changed[0] | changed[1]).flatten(2).any(2).any(0).nonzero()[:, 0].tolist()
    return {"slots": slots, "tokens": changed[2].nonzero().tolist(), "pages": changed[3].nonzero().tolist()}
