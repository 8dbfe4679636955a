"""What overlap scheduling gains: decode tokens/s and idle time of the device, with and without it.

    python benchmarks/overlap.py                                  # a GPU if there is one: Qwen3-0.6B's shape
    python benchmarks/overlap.py --record overlap.json            # and a stretch of rounds for the timeline viewer
    python benchmarks/overlap.py --device cpu --size tiny --running 1 4 --steps 20

The weights are random and made in memory: tokens mean nothing, times do not depend on them. All requests decode, none
ends, and off and on take turns. "Idle between rounds" is the time from the end of one forward pass to the start of the
next, from CUDA events; "idle in all" also counts the gaps inside a pass, where the device waits for its next kernel to
be launched: the kernels' own time, from a profiled run, against the time of a round in a run that is not profiled.
On a CPU device and host are the same cores: nothing can be gained there, and the table says so.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import torch
from common import machine
from random_model import SHAPES, load

from minisgl_lite import LLM, SamplingParams
from minisgl_lite.assembly import Custom
from minisgl_lite.core import Batch
from minisgl_lite.models.checkpoint import Checkpoint, as_device, as_dtype
from minisgl_lite.scheduler.loop import Loop, Output, Runner
from minisgl_lite.scheduler.overlap import OverlapLoop

PROMPT, WARM, PROFILED, SHOWN = 128, 10, 10, 12


class Timed:
    """A runner that notes when the host launched a batch and waited for it, and when the device worked on it."""

    def __init__(self, runner: Runner, cuda: bool) -> None:
        self.runner, self.cuda = runner, cuda
        self.launched: list[float] = []
        self.waits: list[tuple[float, float]] = []
        self.marks: list[tuple[Any, Any]] = []
        if cuda:
            torch.cuda.synchronize()
            self.zero = self._mark()
            torch.cuda.synchronize()
        self.zero_at = time.perf_counter()

    def _mark(self) -> Any:
        if not self.cuda:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def forward_batch(self, batch: Batch) -> Output:
        begin = self._mark()
        output = self.runner.forward_batch(batch)
        self.marks.append((begin, self._mark()))
        self.launched.append(time.perf_counter())
        return TimedOutput(output, self.waits)

    def now(self) -> float:
        return time.perf_counter()

    def device(self) -> list[tuple[float, float]]:
        """(start, end) of each forward pass on the device, on the host's clock."""
        if not self.cuda:
            return list(self.marks)
        torch.cuda.synchronize()
        at = lambda mark: self.zero_at + self.zero.elapsed_time(mark) / 1e3  # noqa: E731
        return [(at(begin), at(end)) for begin, end in self.marks]


class TimedOutput:
    def __init__(self, output: Output, waits: list[tuple[float, float]]) -> None:
        self.output, self.waits = output, waits

    def tokens(self) -> list[int]:
        start = time.perf_counter()
        tokens = self.output.tokens()
        self.waits.append((start, time.perf_counter()))
        return tokens


class Measured(NamedTuple):
    """One run: seconds a round, share of the time between rounds in which the device did nothing, the rounds."""

    round: float
    idle_between: float
    rounds: list[dict[str, Any]]


def start(checkpoint: Checkpoint, running: int, overlap: bool, positions: int) -> tuple[LLM, list[Timed]]:
    """An LLM in which `running` requests are decoding, some warm rounds on; and the runner that keeps the times."""
    timed: list[Timed] = []

    def new_loop(scheduler: Any, runner: Runner, record: Any) -> Loop:
        timed.append(Timed(runner, checkpoint.device.type == "cuda"))
        return (OverlapLoop if overlap else Loop)(scheduler, timed[0], record)

    pages = running * -(-positions // 16)
    llm = LLM(
        checkpoint, page_size=16, num_pages=pages, max_running_req=running, overlap=overlap, cache_type="naive",
        attention_backend="torch", custom=Custom(loop=new_loop),
    )  # fmt: skip
    draw = random.Random(1)
    for _ in range(running):
        prompt = [draw.randrange(checkpoint.config.vocab_size) for _ in range(PROMPT)]
        llm.submit(prompt, SamplingParams(max_tokens=positions - PROMPT, ignore_eos=True))
    while not llm.trace or llm.trace[-1].phase == "prefill" or llm.trace[-1].running < running:
        llm.step()
    steps(llm, WARM)
    return llm, timed


def steps(llm: LLM, count: int) -> None:
    for _ in range(count):
        llm.step()


def measure(checkpoint: Checkpoint, running: int, overlap: bool, count: int, positions: int) -> Measured:
    llm, (timed,) = start(checkpoint, running, overlap, positions)
    gc.collect()
    gc.disable()
    steps(llm, 2)  # with overlap a round was in flight while the garbage was collected
    first = len(llm.trace)
    steps(llm, count)
    gc.enable()
    device, trace = timed.device(), llm.trace[first:]
    rounds = [
        {
            "index": r.index, "phase": r.phase, "uids": list(r.uids), "launch": (r.start, timed.launched[r.index]),
            "device": device[r.index], "wait": timed.waits[r.index], "settle": (timed.waits[r.index][1], r.end),
        }
        for r in trace
    ]  # fmt: skip
    llm.close()
    spans = [r["device"] for r in rounds]
    total = spans[-1][0] - spans[0][0]
    between = sum(max(0.0, b[0] - a[1]) for a, b in pairwise(spans))
    return Measured(total / (len(spans) - 1), between / total, rounds)


def kernel_time(checkpoint: Checkpoint, running: int, positions: int) -> float:
    """Seconds of a decode round in which some kernel runs, profiled."""
    from torch.autograd import DeviceType
    from torch.profiler import ProfilerActivity, profile

    llm, _ = start(checkpoint, running, False, positions)
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as found:
        steps(llm, PROFILED)
        torch.cuda.synchronize()
    llm.close()
    kernels = [event for event in found.events() if event.device_type == DeviceType.CUDA]
    spans = sorted((event.time_range.start, event.time_range.end) for event in kernels)
    busy, until = 0.0, float("-inf")
    for begin, end in spans:
        busy += max(0.0, end - max(begin, until))
        until = max(until, end)
    return busy / 1e6 / PROFILED


def shown(rounds: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A stretch from the middle, its times from 0 on."""
    middle = len(rounds) // 2
    some = rounds[max(0, middle - SHOWN // 2) :][:SHOWN]
    zero = some[0]["launch"][0]
    spans = ("launch", "device", "wait", "settle")
    return [r | {name: [round(at - zero, 7) for at in r[name]] for name in spans} for r in some]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default=None)
    parser.add_argument("--size", choices=SHAPES, default=None)
    parser.add_argument("--running", type=int, nargs="*", default=None)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--record", type=Path, default=None, help="write numbers and rounds to this JSON file")
    args = parser.parse_args()
    device = as_device(args.device)
    cuda = device.type == "cuda"
    size, dtype = args.size or ("0.6b" if cuda else "tiny"), as_dtype("bfloat16" if cuda else "float32")
    positions = PROMPT + args.steps + WARM + PROFILED + 32
    checkpoint = load(size, dtype, device, positions)
    print(machine())
    print(f"Qwen3 {size}, random weights, {dtype}, torch attention; {args.steps} rounds, median of {args.repeats} runs")
    print("| running | overlap | tokens/s | ms a round | idle between rounds | idle in all |")
    print("|--:|---|--:|--:|--:|--:|")
    runs = []
    for running in args.running or ([1, 16, 64, 256] if cuda else [1, 4]):
        kernels = kernel_time(checkpoint, running, positions) if cuda else None
        found: dict[bool, list[Measured]] = {False: [], True: []}
        for _ in range(args.repeats):
            for overlap in (False, True):
                found[overlap].append(measure(checkpoint, running, overlap, args.steps, positions))
        for overlap, some in found.items():
            runs.append(summary(running, overlap, some, kernels))
            print(row(runs[-1]), flush=True)
    if not cuda:
        print("On a CPU the forward pass runs inside the launch, on the same cores: overlap gains nothing.")
    if args.record:
        told = {"machine": machine(), "model": f"Qwen3 {size}, random weights, {dtype}", "runs": runs}
        args.record.write_text(json.dumps(told), encoding="utf-8")


def summary(running: int, overlap: bool, some: list[Measured], kernels: float | None) -> dict[str, Any]:
    """The medians of some runs, and the rounds of the one in the middle."""
    middle: Callable[[Sequence[Measured]], Measured] = lambda s: sorted(s, key=lambda m: m.round)[len(s) // 2]  # noqa: E731
    seconds = statistics.median(m.round for m in some)
    return {
        "running": running,
        "overlap": overlap,
        "tokens_per_second": running / seconds,
        "round_seconds": seconds,
        "idle_between": statistics.median(m.idle_between for m in some),
        "idle": None if kernels is None else max(0.0, 1 - kernels / seconds),
        "rounds": shown(middle(some).rounds),
    }


def row(run: dict[str, Any]) -> str:
    idle = "-" if run["idle"] is None else f"{run['idle']:.1%}"
    cells = [run["running"], "on" if run["overlap"] else "off", f"{run['tokens_per_second']:,.0f}"]
    cells += [f"{run['round_seconds'] * 1e3:.2f}", f"{run['idle_between']:.1%}", idle]
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
