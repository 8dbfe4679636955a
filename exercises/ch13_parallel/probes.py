"""What the judge asks of the student's code: chapter 13. Runs in the graded process; returns plain values.

The ranks are threads of this process, so that all of them run the student's file.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

from minisgl_lite.assembly import Custom, assemble_scheduler
from minisgl_lite.config import EngineConfig
from minisgl_lite.core import Batch, InvariantError, Req, SamplingParams
from minisgl_lite.engine.virtual import VirtualEngine
from minisgl_lite.kvcache.pages import OutOfPages
from minisgl_lite.models.config import ModelConfig
from minisgl_lite.models.hf_json import CheckpointError
from minisgl_lite.parallel.agree import AgreeingScheduler, first_difference
from minisgl_lite.parallel.comm import ThreadCommunicator
from minisgl_lite.parallel.layers import ParallelLMHead, RowParallelLinear, VocabParallelEmbedding
from minisgl_lite.parallel.parts import rank_parts
from minisgl_lite.parallel.shard import Cut, cut_of
from minisgl_lite.scheduler.decode import DecodeManager
from minisgl_lite.scheduler.prefill import PrefillAdder
from minisgl_lite.scheduler.scheduler import Scheduler
from workbook.judge.calls import call
from workbook.judge.watching import Calls, Operations

GRACE = 2.0
"""Seconds for the other ranks once one has ended; who still waits then waits for nobody."""


# ---- ranks that are threads -----------------------------------------------------------------------------------------


class Meeting:
    """A Link of each rank to the others. exchanges: how many were done."""

    def __init__(self, size: int) -> None:
        self.values: list[Any] = [None] * size
        self.verdict: Any = None
        self.barrier = threading.Barrier(size)
        self.exchanges = 0

    def exchange(self, rank: int, value: Any, judge: Callable[[list[Any]], Any]) -> Any:
        self.values[rank] = value
        self.barrier.wait()
        if rank == 0:
            self.verdict = judge(list(self.values))
            self.exchanges += 1
        self.barrier.wait()
        return self.verdict


class RankLink:
    """One rank's end of a Meeting."""

    def __init__(self, meeting: Meeting, rank: int) -> None:
        self.meeting, self.rank = meeting, rank

    def exchange(self, value: Any, judge: Callable[[list[Any]], Any]) -> Any:
        """See Link."""
        return self.meeting.exchange(self.rank, value, judge)


def on_ranks(size: int, work: Callable[[ThreadCommunicator, RankLink], Any], seconds: float = 40.0) -> list[Any]:
    """work(communicator, link) of every rank, each in a thread; "stuck" for one that waited for others in vain.

    Raises what a rank raised, the first that is no such waiting.
    """
    results: list[Any] = ["stuck"] * size
    errors: list[Exception] = []
    meeting = Meeting(size)

    def run(comm: ThreadCommunicator) -> None:
        try:
            results[comm.rank] = work(comm, RankLink(meeting, comm.rank))
        except threading.BrokenBarrierError:
            return
        except Exception as error:
            errors.append(error)

    comms = ThreadCommunicator.group(size)
    threads = [threading.Thread(target=run, args=(comm,), daemon=True) for comm in comms]
    for thread in threads:
        thread.start()
    until = time.monotonic() + seconds
    while (alive := [thread for thread in threads if thread.is_alive()]) and time.monotonic() < until:
        if len(alive) < size:
            until = min(until, time.monotonic() + GRACE)
        alive[0].join(0.02)
    comms[0].leave()
    meeting.barrier.abort()
    for thread in threads:
        thread.join(GRACE)
    if errors:
        raise errors[0]
    return results


# ---- 13.1 -----------------------------------------------------------------------------------------------------------


def probe_cuts(args: dict[str, Any]) -> list[Any]:
    """[sizes of a model, ranks, rank, name] -> [axis, start, length, total] of the cut, or null."""
    found = []
    for sizes, size, rank, name in args["cases"]:
        config = ModelConfig("Qwen3ForCausalLM", hidden_size=64, num_layers=2, max_seq_len=64, **sizes)
        cut = call(cut_of, name, config, rank, size, name=f"cut_of({name!r}, {sizes}, rank {rank} of {size})")
        found.append(None if cut is None else [cut.axis, cut.start, cut.length, cut.total])
    return found


class File:
    """An open safetensors file of one tensor that counts the numbers which are read."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor, self.read = tensor, 0

    def get_tensor(self, name: str) -> torch.Tensor:
        self.read += self.tensor.numel()
        return self.tensor.clone()

    def get_slice(self, name: str) -> File:
        return self

    def get_shape(self) -> list[int]:
        return list(self.tensor.shape)

    def __getitem__(self, index: Any) -> torch.Tensor:
        part = self.tensor[index].clone()
        self.read += part.numel()
        return part


def probe_read(args: dict[str, Any]) -> list[Any]:
    """[shape, axis, start, length, total] -> the part's values, its dtype, the numbers read; or what is refused.

    The tensor counts from 1 on.
    """
    found: list[Any] = []
    for shape, axis, start, length, total in args["cases"]:
        whole = (torch.arange(torch.Size(shape).numel()) + 1).view(shape).to(torch.bfloat16)
        file = File(whole)
        name = f"Cut({axis}, {start}, {length}, {total}).read of a tensor {shape}"
        try:
            part = call(Cut(axis, start, length, total).read, file, "the.tensor", returns=torch.Tensor, name=name)
        except CheckpointError as error:
            found.append({"refused": str(error)})
            continue
        found.append({"values": part.float().tolist(), "dtype": str(part.dtype), "read": file.read})
    return found


# ---- 13.2 -----------------------------------------------------------------------------------------------------------


class Wire:
    """A Communicator that also notes the dtypes of what it is given."""

    def __init__(self, comm: ThreadCommunicator) -> None:
        self.rank, self.size, self.comm = comm.rank, comm.size, comm
        self.dtypes: set[str] = set()

    def all_reduce(self, x: torch.Tensor) -> torch.Tensor:
        """See Communicator."""
        self.dtypes.add(str(x.dtype))
        return self.comm.all_reduce(x)

    def all_gather(self, x: torch.Tensor) -> torch.Tensor:
        """See Communicator."""
        self.dtypes.add(str(x.dtype))
        return self.comm.all_gather(x)

    def broadcast(self, x: torch.Tensor) -> torch.Tensor:
        """See Communicator."""
        return self.comm.broadcast(x)


def run_layer(layer: nn.Module, given: torch.Tensor, wire: Wire) -> dict[str, Any]:
    """One call: what it gave, what it moved, what waited, and whether weights, bias and input are as before."""
    held = [given, *layer.parameters()]
    before = [tensor.detach().clone() for tensor in held]
    calls, operations = Calls(), Operations()
    with torch.inference_mode(), operations, calls:
        out = call(layer.forward, given, returns=torch.Tensor, name=f"rank {wire.rank}: {type(layer).__name__}.forward")
    return {
        "out": out.tolist(),
        "reduced": wire.comm.reduced,
        "gathered": wire.comm.gathered,
        "dtypes": sorted(wire.dtypes),
        "waits": calls.waits + operations.waits,
        "kept": all(torch.equal(a, b) for a, b in zip(before, held, strict=True)),
    }


def part(rows: list[list[float]], rank: int, size: int, axis: int) -> torch.Tensor:
    """A rank's part of a matrix, with zeros where it reaches beyond the end."""
    whole = torch.tensor(rows).movedim(axis, 0)
    length = -(-len(whole) // size)
    padded = torch.cat((whole, whole.new_zeros(length * size - len(whole), *whole.shape[1:])))
    return padded[rank * length : (rank + 1) * length].movedim(0, axis).contiguous()


def probe_layer(args: dict[str, Any]) -> list[Any]:
    """One of the three layers on `size` ranks: what each gives, and what it moved."""
    size, kind, weight = args["size"], args["kind"], args["weight"]
    dtype = getattr(torch, args.get("dtype", "float32"))

    def work(comm: ThreadCommunicator, link: RankLink) -> dict[str, Any]:
        wire = Wire(comm)
        mine = part(weight, comm.rank, size, 1 if kind == "row" else 0).to(dtype)
        if kind == "embedding":
            embedding = nn.Embedding.from_pretrained(mine)
            return run_layer(VocabParallelEmbedding(embedding, wire), torch.tensor(args["given"]), wire)
        linear = nn.Linear(mine.shape[1], mine.shape[0], bias=args.get("bias") is not None)
        linear.weight = nn.Parameter(mine, requires_grad=False)
        if args.get("bias") is not None:
            linear.bias = nn.Parameter(torch.tensor(args["bias"], dtype=dtype), requires_grad=False)
        if kind == "head":
            given = torch.tensor(args["given"], dtype=dtype)
            return run_layer(ParallelLMHead(linear, len(weight), wire), given, wire)
        return run_layer(RowParallelLinear(linear, wire), part(args["given"], comm.rank, size, 1).to(dtype), wire)

    return on_ranks(size, work)


# ---- 13.3 -----------------------------------------------------------------------------------------------------------


def probe_difference(args: dict[str, Any]) -> list[str]:
    """first_difference of each list of plans."""
    return [call(first_difference, plans, returns=str) for plans in args["cases"]]


class Backwards(DecodeManager):
    """The decode set backwards from the moment at which it holds three: as a set of objects might have it."""

    def _set(self, running: list[Req]) -> None:
        super()._set(running[::-1] if len(running) > 2 else running)


class LastWins(DecodeManager):
    """Forgets one of the requests once it holds three."""

    def _set(self, running: list[Req]) -> None:
        super()._set(running[:2])


MISTAKES: dict[str, type[DecodeManager]] = {"order": Backwards, "forgets": LastWins}


class StumbledError(LookupError):
    """A bug in planning: no lack of pages."""


def stumble() -> None:
    """What planning does in the round that `stumbles` names."""
    raise StumbledError("a bug that is no lack of pages")


class Noticing(AgreeingScheduler):
    """An AgreeingScheduler whose decode set may be a wrong one, and whose policy does one round otherwise.

    odd: (call of the policy, what it does in that call).
    """

    def __init__(self, link: Any, mistake: str, odd: tuple[int, Callable[[], None]] | None, *parts: Any) -> None:
        table, cache, prefill, decode, policy = parts
        self.plans = 0
        if mistake:
            decode, choose = MISTAKES[mistake](), policy.choose
            policy.choose = lambda prefill, _: choose(prefill, decode)
        if odd:
            go_on, rounds = policy.choose, iter(range(1, 10_000))
            policy.choose = lambda *sets: odd[1]() if next(rounds) == odd[0] else go_on(*sets)
        super().__init__(link, table, cache, prefill, decode, policy)

    def plan(self) -> Batch | None:
        """Counted."""
        self.plans += 1
        batch: Batch | None = super().plan()
        return batch


def outcome(loop: Any, scheduler: Any, arrivals: list[Any], aborts: list[Any], sound: bool) -> dict[str, Any]:
    """Drive one rank's schedule to its end, or to what it raises. sound: its books are to be checked."""
    events: list[Any] = []
    now, steps = 0, 0
    while now <= 40 or loop.has_work:
        for at, uid, prompt, most in arrivals:
            if at == now:
                scheduler.submit(Req(uid, prompt, SamplingParams(max_tokens=most, ignore_eos=True)))
        for at, uid in aborts:
            if at == now:
                scheduler.abort(uid)
        try:
            events += [list(event) for event in loop.step()]
            if sound:
                scheduler.check()
        except (InvariantError, OutOfPages, StumbledError) as error:
            return {"raised": type(error).__name__, "said": str(error), "step": now, "events": events}
        now, steps = now + 1, steps + 1
        if now > 500:
            break
    return {"raised": "", "said": "", "step": now, "events": events}


def probe_schedules(args: dict[str, Any]) -> dict[str, Any]:
    """The same stream of requests on the schedulers of all ranks, on a clock that counts; one may have a mistake."""
    size, plain = args["size"], args.get("plain", False)
    config = EngineConfig(page_size=2, max_running_req=4, max_extend_tokens=16, overlap=args.get("overlap", False))
    meetings: list[Meeting] = []
    launched, plans = [0] * size, [0] * size

    def work(comm: ThreadCommunicator, link: RankLink) -> dict[str, Any]:
        meetings.append(link.meeting)
        own = comm.rank == args.get("at", -1)
        pages = args.get("few", 0) if own and args.get("few") else args["pages"]
        mistake = args.get("mistake", "") if own else ""
        odd = {"idle": lambda: None, "stumbles": stumble} if own else {}
        at = next(((args[name], does) for name, does in odd.items() if args.get(name)), None)
        custom = Custom(
            scheduler=Scheduler if plain else partial(Noticing, link, mistake, at),
            adder=PrefillAdder if args.get("greedy") else None,
        )
        engine = VirtualEngine(lambda uid, position: 10 + uid)
        schedule = assemble_scheduler(config, pages, lambda _: engine, custom)
        got = outcome(schedule.loop, schedule.scheduler, args["arrivals"], args.get("aborts", []), not mistake)
        launched[comm.rank] = int(engine.clock)
        plans[comm.rank] = getattr(schedule.scheduler, "plans", 0)
        return got

    ranks = on_ranks(size, work, 20.0)
    return {"ranks": ranks, "exchanges": meetings[0].exchanges, "computed": launched, "plans": plans[0]}


# ---- the whole engine -----------------------------------------------------------------------------------------------


def probe_generate(args: dict[str, Any]) -> list[Any]:
    """The bundled model on `size` ranks: the tokens of each prompt, on each rank."""
    config = EngineConfig(model="tiny", device="cpu", tp_size=args["size"], num_pages=512, page_size=4)

    def work(comm: ThreadCommunicator, link: RankLink) -> Any:
        mistake = args.get("mistake", "") if comm.rank else ""
        custom = Custom(scheduler=partial(Noticing, link, mistake, None)) if args.get("compare") else Custom()
        parts = rank_parts(config, custom, comm, link)
        arrivals = [[uid // 3, uid, prompt, args["new"]] for uid, prompt in enumerate(args["prompts"])]
        got = outcome(parts.schedule.loop, parts.schedule.scheduler, arrivals, [], not mistake)
        if not got["raised"]:
            parts.engine.check(parts.schedule.scheduler.cache.accounts)
        got["tokens"] = [[token for u, token, _ in got["events"] if u == uid] for _, uid, *_ in arrivals]
        return got

    return on_ranks(args["size"], work)
