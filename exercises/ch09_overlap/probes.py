"""What the judge asks of the student's code: chapter 09. Runs in the graded process; returns plain values."""

from __future__ import annotations

from typing import Any

from minisgl_lite.assembly import Custom, Schedule, assemble_scheduler
from minisgl_lite.config import EngineConfig
from minisgl_lite.core import Batch, InvariantError, Req, SamplingParams
from minisgl_lite.engine.lanes import HostCost, Lane, TwoClockEngine, TwoClockOutput, idle_share
from minisgl_lite.engine.virtual import VirtualEngine
from minisgl_lite.kvcache.pages import PageAllocator
from minisgl_lite.scheduler.cache import CacheManager
from minisgl_lite.scheduler.chunked import ChunkedAdder, ChunkedPrefillManager
from minisgl_lite.scheduler.decode import DecodeManager
from minisgl_lite.scheduler.loop import Loop, Output, Runner
from minisgl_lite.scheduler.overlap import OverlapLoop
from minisgl_lite.scheduler.phase import PrefillFirst
from minisgl_lite.scheduler.prefill import PrefillAdder, PrefillManager
from minisgl_lite.scheduler.prefix import PrefixCacheManager
from workbook.judge.calls import call
from workbook.judge.drive import Traffic, drive, step_ahead
from workbook.judge.model import bundled_model

MOST_STEPS = 40


class ForwardFailedError(RuntimeError):
    """What a runner of these probes raises when it is told to fail."""


# ---- 09.1: two clocks -----------------------------------------------------------------------------------------------


def probe_clocks(args: dict[str, Any]) -> dict[str, Any]:
    """Launch and wait as told; the two clocks after each, and the lanes at the end.

    ops: ["launch", seconds on the device], ["wait", batch, counted from 0], ["work", seconds of the host's own].
    """
    costs = [op[1] for op in args["ops"] if op[0] == "launch"]
    device = VirtualEngine(lambda uid, position: 40 + uid, cost=lambda batch: costs[batch.index - 1])
    engine = TwoClockEngine(device, HostCost(*args["host"]))
    outputs: list[TwoClockOutput] = []
    seen, tokens = [], []
    for kind, value in args["ops"]:
        if kind == "launch":
            req = Req(len(outputs), [5, 5], SamplingParams())
            batch = Batch("decode", [req], [1], [1], [0], index=len(outputs) + 1)
            outputs.append(call(engine.forward_batch, batch, returns=TwoClockOutput))
        elif kind == "wait":
            name = "waiting for the tokens: TwoClockEngine.settle"
            tokens.append(call(outputs[value].tokens, name=name))
        else:
            engine.clock += value
        seen.append([engine.now(), device.now()])
    kinds = sorted({type(e.uids).__name__ for e in engine.lanes})
    lanes = [[e.index, list(e.uids), *map(list, (e.launch, e.device, e.wait, e.settle))] for e in engine.lanes]
    return {"clocks": seen, "lanes": lanes, "tokens": tokens, "uids": kinds}


def probe_idle(args: dict[str, Any]) -> list[float]:
    """idle_share of rounds of which only the time on the device matters."""
    none = (0.0, 0.0)
    return [
        call(idle_share, [Lane(i, "decode", (), none, (a, b), none, none) for i, (a, b) in enumerate(spans)])
        for spans in args["rounds"]
    ]


# ---- 09.2: the loop -------------------------------------------------------------------------------------------------


class Logged:
    """A runner that notes each launch and each wait, and fails where it is told to: at a launch, or late, at a wait."""

    def __init__(self, runner: Runner, fails: list[int], late: list[int]) -> None:
        self.runner, self.fails, self.late = runner, fails, late
        self.log: list[list[Any]] = []

    def forward_batch(self, batch: Batch) -> Output:
        """See Runner."""
        self.log.append(["launch", batch.index])
        if batch.index in self.fails:
            raise ForwardFailedError
        return LoggedOutput(self.log, batch.index, self.runner.forward_batch(batch), batch.index in self.late)

    def now(self) -> float:
        """See Runner."""
        return self.runner.now()


class LoggedOutput:
    """An output whose wait is noted."""

    def __init__(self, log: list[list[Any]], index: int, output: Output, fails: bool) -> None:
        self.log, self.index, self.output, self.fails = log, index, output, fails

    def tokens(self) -> list[int]:
        """See Output."""
        self.log.append(["wait", self.index])
        if self.fails:
            raise ForwardFailedError
        return self.output.tokens()


class Stumbling(PrefillFirst):
    """A phase policy that raises, once: the planning of round `at` fails."""

    def __init__(self, at: int) -> None:
        self.at, self.asked = at, 0

    def choose(self, prefill: PrefillManager, decode: DecodeManager) -> Batch | None:
        """See PhasePolicy."""
        self.asked += 1
        if self.asked == self.at:
            raise ForwardFailedError
        return super().choose(prefill, decode)


def probe_ahead(args: dict[str, Any]) -> list[dict[str, Any]]:
    """Steps of the loop on the virtual engine: launches and waits in order, events, and whether it raised.

    requests: [prompt length, max_tokens], all there before the first step. fails: batches whose launch raises. late:
    batches whose tokens raise.
    stumbles: the round whose planning raises, which is the last that is looked at; 0: none.
    """
    runner = Logged(VirtualEngine(lambda uid, position: 40 + uid), args["fails"], args["late"])
    config = EngineConfig(cache_type="naive", overlap=True, max_running_req=args["rows"])
    custom = Custom(policy=lambda: Stumbling(args["stumbles"]))
    schedule = assemble_scheduler(config, args["pages"], lambda _: runner, custom)
    for uid, (prompt, most) in enumerate(args["requests"]):
        schedule.scheduler.submit(Req(uid, [5] * prompt, SamplingParams(max_tokens=most)))
    seen = []
    while schedule.loop.has_work and len(seen) < MOST_STEPS:
        at, raised, events = len(runner.log), False, []
        try:
            events = call(schedule.loop.step, returns=list, name="OverlapLoop.step")
        except ForwardFailedError:
            raised = True
        seen.append({"log": runner.log[at:], "events": [list(e) for e in events], "raised": raised})
        if raised and args["stumbles"]:
            break
    return seen


def probe_schedule(args: dict[str, Any]) -> dict[str, Any]:
    """A whole schedule on the shadow engine; failing batches are survived. See `checks.common.run_ahead`."""
    return run_ahead(**args)


def run_ahead(traffic: dict[str, Any], cache: str, whole: bool, fails: list[int]) -> dict[str, Any]:
    """Drive an OverlapLoop; adds what was wasted, [uid, entries computed after the end], to the answer."""
    engines: list[Any] = []

    def new_loop(scheduler: Any, runner: Any, record: Any) -> Loop:
        engines.append(runner)
        return OverlapLoop(scheduler, Logged(runner, fails, []), record)

    def step(*given: Any) -> bool:
        try:
            return step_ahead(*given)
        except ForwardFailedError:
            return True

    parts = (PrefillAdder, PrefillManager) if whole else (ChunkedAdder, ChunkedPrefillManager)
    manager = PrefixCacheManager if cache == "radix" else CacheManager
    custom = Custom(adder=parts[0], queue=parts[1], cache=manager, loop=new_loop)
    told = drive(Traffic(**traffic), custom, step)
    return {**told, "wasted": [list(pair) for pair in engines[0].wasted.items()]}


# ---- 09.3: who leaves when ------------------------------------------------------------------------------------------


class Watched(CacheManager):
    """A cache manager that notes what an account holds when it is closed."""

    def __init__(self, allocator: PageAllocator) -> None:
        super().__init__(allocator)
        self.closed: list[list[int]] = []

    def close(self, req: Req) -> None:
        """Note the uid and how far it counts as computed."""
        self.closed.append([req.uid, req.cached_len])
        super().close(req)


def probe_leave(args: dict[str, Any]) -> list[dict[str, Any]]:
    """Plan, commit, fail and abort by hand; how everybody stands after each.

    ops: ["submit", uid, prompt length, max_tokens], ["plan"], ["commit", [[uid, token], ...]] and ["fail"] for the
    oldest batch in flight, if any, ["fail second"] for the one behind it, ["abort", uid]. Token 3 ends a request.
    """
    config = EngineConfig(cache_type="naive", overlap=False, max_running_req=args["rows"])
    custom = Custom(cache=Watched)
    schedule = assemble_scheduler(config, 200, lambda _: VirtualEngine(lambda uid, position: 5), custom)
    flights: list[Batch] = []
    reqs: dict[int, Req] = {}
    seen = []
    for kind, *rest in args["ops"]:
        answer = one_operation(schedule, flights, reqs, kind, rest)
        seen.append({**standing(schedule, reqs), **answer})
    return seen


def one_operation(
    schedule: Schedule, flights: list[Batch], reqs: dict[int, Req], kind: str, rest: list[Any]
) -> dict[str, Any]:
    """Do it; what it answered."""
    scheduler = schedule.scheduler
    batch, events, refused = None, [], False
    if kind == "submit":
        uid, prompt, most = rest
        reqs[uid] = Req(uid, [5] * prompt, SamplingParams(max_tokens=most), eos_ids=(3,))
        scheduler.submit(reqs[uid])
    elif kind == "plan":
        batch = scheduler.plan()
        if batch is not None:
            flights.append(batch)
    elif kind == "abort":
        scheduler.abort(rest[0])
    elif kind == "fail second" and len(flights) > 1:
        try:
            scheduler.fail(flights[1])
        except InvariantError:
            refused = True
    elif flights and kind != "fail second":
        batch = flights.pop(0)
        if kind == "fail":
            call(scheduler.fail, batch, name="Scheduler.fail")
            events = scheduler.take_notes()
        else:
            tokens = dict(rest[0])
            events = scheduler.commit(batch, [tokens.get(req.uid, 9) for req in batch.emitting])
    entries = [] if batch is None else [list(e) for e in zip(batch.uids, batch.starts, strict=True)]
    return {"batch": entries, "events": [list(e) for e in events], "refused": refused}


def standing(schedule: Schedule, reqs: dict[int, Req]) -> dict[str, Any]:
    """Where every request is, and what is held."""
    scheduler, cache = schedule.scheduler, schedule.scheduler.cache
    broken = ""
    try:
        scheduler.check()
    except InvariantError as error:
        broken = str(error)
    return {
        "launched": scheduler.launched,
        "committed": scheduler.committed,
        "reqs": [
            [r.uid, r.last_launch, r.finish_reason, r.uid in cache.accounts, r.table_idx is not None, r.cached_len,
             r.error]
            for r in reqs.values()
        ],
        "closed": [list(pair) for pair in cache.closed],
        "rows": scheduler.table.available,
        "broken": broken,
    }  # fmt: skip


# ---- the whole engine -----------------------------------------------------------------------------------------------


def probe_generate(args: dict[str, Any]) -> dict[str, Any]:
    """Greedy tokens of the bundled model, each prompt with a stop of its own; what was computed."""
    from minisgl_lite import LLM

    params = [
        SamplingParams(max_tokens=args["max_tokens"], ignore_eos=True, stop_token_ids=tuple(stops))
        for stops in args["stops"]
    ]
    limits = {"max_running_req": args["rows"], "num_pages": 512, "page_size": args["page_size"]}
    with LLM(bundled_model(), **limits, cache_type=args["cache"], overlap=True) as llm:
        outputs = llm.generate(args["prompts"], params)
        llm.check_invariants()
        entries = sum(len(r.entries) for r in llm.trace)
    return {
        "tokens": [out.token_ids for out in outputs],
        "reasons": [o.finish_reason for o in outputs],
        "work": entries,
    }
