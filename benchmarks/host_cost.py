"""What a decode step costs on the host: plan, build the inputs, commit; trace on, no model.

    python benchmarks/host_cost.py

The virtual engine stands in for the forward pass, but the inputs are really built, as tensors. Medians over many steps,
each beside the median of a calibration loop (1,000 list appends) that takes turns with them: ratios can be compared
between machines, and on one machine from one hour to the next.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable

import torch
from common import machine

from minisgl_lite.assembly import Schedule, assemble_scheduler
from minisgl_lite.config import EngineConfig
from minisgl_lite.core import Batch, Req, SamplingParams
from minisgl_lite.engine.slots import Tables
from minisgl_lite.engine.virtual import VirtualEngine, VirtualOutput

PROMPT = 16
CONTEXT = 2048


class BuildingEngine(VirtualEngine):
    """Builds the inputs of each batch and computes nothing."""

    def __init__(self, tables: Tables) -> None:
        super().__init__(lambda uid, position: 5)
        self.tables = tables

    @torch.inference_mode()
    def forward_batch(self, batch: Batch) -> VirtualOutput:
        self.tables.build(batch)
        return VirtualOutput([5] * len(batch.reqs))


def prepare(running: int, waiting: int, blocked_by: str, page_size: int) -> Schedule:
    """`running` requests in the decode set, `waiting` in the queue that cannot start: no slot, or no pages."""
    slots = running + (1 if blocked_by == "pages" else 0)
    pages = running * -(-CONTEXT // page_size)
    config = EngineConfig(
        max_running_req=slots, page_size=page_size, cache_type="naive", overlap=False, max_extend_tokens=1 << 20
    )
    tables = Tables(slots, CONTEXT, page_size, torch.device("cpu"))
    schedule = assemble_scheduler(config, pages, lambda _: BuildingEngine(tables))
    long = SamplingParams(max_tokens=CONTEXT - PROMPT + 1, ignore_eos=True)
    for uid in range(running):
        schedule.scheduler.submit(Req(uid, [7] * PROMPT, long))
    schedule.loop.step()
    # whoever waits needs the whole pool: a free slot is of no use to it
    prompt = [7] * (pages * page_size if blocked_by == "pages" else PROMPT)
    for uid in range(running, running + waiting):
        schedule.scheduler.submit(Req(uid, prompt if uid == running else prompt[:PROMPT], SamplingParams(max_tokens=1)))
    return schedule


def append_thousand() -> None:
    """The unit of cost."""
    out: list[int] = []
    for i in range(1000):
        out.append(i)


def microseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e6


def measure(schedule: Schedule, steps: int) -> tuple[list[float], list[float]]:
    """Microseconds of each of `steps` decode steps, and of as many calibration loops in between."""
    for _ in range(20):
        schedule.loop.step()
    gc.disable()
    pairs = [(microseconds(schedule.loop.step), microseconds(append_thousand)) for _ in range(steps)]
    gc.enable()
    assert all(r.phase == "decode" for r in list(schedule.recorder.rounds)[-steps:])
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--waiting", type=int, nargs="*", default=[0, 1_000, 100_000])
    args = parser.parse_args()
    torch.set_num_threads(1)
    print(machine())
    print("| page size | running | waiting | queue stopped by | median µs | p90 µs | 1,000 appends µs | ratio |")
    print("|--:|--:|--:|---|--:|--:|--:|--:|")
    for page_size in (1, 16):
        for running in (1, 64, 256):
            for waiting in args.waiting:
                for blocked_by in ("slots", "pages") if waiting else ("-",):
                    times, units = measure(prepare(running, waiting, blocked_by, page_size), args.steps)
                    median, p90 = statistics.median(times), statistics.quantiles(times, n=10)[-1]
                    unit = statistics.median(units)
                    cells = [
                        page_size,
                        running,
                        f"{waiting:,}",
                        blocked_by,
                        f"{median:.0f}",
                        f"{p90:.0f}",
                        f"{unit:.1f}",
                        f"{median / unit:.1f}",
                    ]
                    print("|", " | ".join(map(str, cells)), "|", flush=True)


if __name__ == "__main__":
    main()
