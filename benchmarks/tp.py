"""Tensor parallelism: ms a decode step and prefill tokens/s on 1, 2, ... ranks, beside the limit.

    python benchmarks/tp.py --shape 14b --tp 1,2                   # two GPUs
    python benchmarks/tp.py --shape 32b --tp 1,2,4 --batch 1,16,64,256
    python benchmarks/tp.py --shape tiny --tp 1,2 --batch 1,4 --device cpu     # gloo; shows that it runs, no more

Random weights, made in memory. A step is measured from the end of one round to the end of the next, through
LLM.step, with whatever the engine does by itself (graphs, overlap). "limit" is the time to read a rank's weights once
at the bandwidth of a large copy, and two sums a layer and one for the embedding as measured inside a CUDA graph (on
a CPU: one by one). "ids as on 1 rank" counts greedy tokens before the first that differs: sums in another order round
differently, and random weights have many near-ties.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import statistics
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import random_model
import torch
from common import machine

from minisgl_lite import LLM, SamplingParams
from minisgl_lite.assembly import Custom
from minisgl_lite.models.checkpoint import as_device

PROMPT, WARM, PREFILL, PREFILL_PROMPTS = 128, 10, 1024, 8


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def prompts(count: int, length: int, vocab: int, seed: int) -> list[list[int]]:
    draw = random.Random(seed)
    return [[draw.randrange(vocab) for _ in range(length)] for _ in range(count)]


def open_engine(args: argparse.Namespace, tp: int) -> LLM:
    """An engine on `tp` ranks with room for the largest batch."""
    positions = max(PROMPT + args.steps + 2 * WARM + 8, PREFILL + 8)
    rows = max(*args.batch, PREFILL_PROMPTS)
    pages = max(rows * -(-(PROMPT + args.steps + 2 * WARM + 8) // 16), PREFILL_PROMPTS * -(-(PREFILL + 8) // 16))
    return LLM(
        args.shape, device=args.device, tp_size=tp, page_size=16, num_pages=pages, max_running_req=rows,
        max_seq_len=positions, cache_type="naive", custom=Custom(load=random_model.load),
        **({"cuda_graph_max_bs": 0} if args.no_graphs else {}),
    )  # fmt: skip


def start_decoding(llm: LLM, batch: int, steps: int, vocab: int) -> None:
    """Bring `batch` requests so far that all of them decode."""
    for prompt in prompts(batch, PROMPT, vocab, seed=1):
        llm.submit(prompt, SamplingParams(max_tokens=steps + 2 * WARM, ignore_eos=True))
    while not llm.trace or llm.trace[-1].phase == "prefill" or len(llm.trace[-1].uids) < batch:
        llm.step()
    for _ in range(WARM):
        llm.step()


def finish(llm: LLM) -> None:
    while llm.has_work:
        llm.step()


def decode_step(llm: LLM, batch: int, steps: int, vocab: int) -> float:
    """Median seconds a decode round of `batch` requests."""
    start_decoding(llm, batch, steps, vocab)
    gc.collect()
    gc.disable()
    ends = []
    for _ in range(steps):
        llm.step()
        ends.append(time.perf_counter())
    gc.enable()
    finish(llm)
    return statistics.median(b - a for a, b in pairwise(ends))


def prefill_rate(llm: LLM, vocab: int, seed: int) -> float:
    """Prompt tokens a second."""
    some = prompts(PREFILL_PROMPTS, PREFILL, vocab, seed)
    start = time.perf_counter()
    llm.generate(some, SamplingParams(max_tokens=1, ignore_eos=True))
    return PREFILL * PREFILL_PROMPTS / (time.perf_counter() - start)


def measure(args: argparse.Namespace, tp: int) -> dict[str, Any]:
    """All numbers of one engine; medians of args.repeats."""
    begin = time.perf_counter()
    llm = open_engine(args, tp)
    print(f"  {tp} rank(s): ready in {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    parts = llm._parts
    vocab, weights = parts.checkpoint.config.vocab_size, dict(parts.checkpoint.decoder.named_parameters())
    found: dict[str, Any] = {
        "tp": tp,
        # the embedding is looked up, not read
        "weight_bytes": sum(t.nbytes for name, t in weights.items() if not name.startswith("embed_tokens")),
        "ids": [o.token_ids for o in llm.generate(
            prompts(4, PROMPT, vocab, seed=7), SamplingParams(max_tokens=16, ignore_eos=True)
        )],
        "step": {b: statistics.median(decode_step(llm, b, args.steps, vocab) for _ in range(args.repeats))
                 for b in args.batch},
        "prefill": statistics.median([prefill_rate(llm, vocab, 100 + i) for i in range(args.repeats + 1)][1:]),
    }  # fmt: skip
    if args.profile:
        profile(llm, args.profile, vocab)
    llm.check_invariants()
    llm.close()
    del llm, parts, weights
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return found


def profile(llm: LLM, batch: int, vocab: int) -> None:
    """Print what rank 0's device does in a decode step, kernel by kernel."""
    from torch.autograd import DeviceType
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as record

    start_decoding(llm, batch, WARM, vocab)
    with record(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as seen:
        for _ in range(WARM):
            llm.step()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
    finish(llm)
    kernels: dict[str, list[float]] = {}
    for event in seen.events():
        if event.device_type == DeviceType.CUDA:
            kernels.setdefault(event.name, []).append(event.time_range.elapsed_us())
    print(f"\nbatch {batch}: device time by kernel\n")
    print("| µs a step | calls a step | µs a call | kernel |\n|--:|--:|--:|---|")
    for name, times in sorted(kernels.items(), key=lambda item: -sum(item[1]))[:25]:
        each, calls = sum(times) / WARM, len(times) / WARM
        print(f"| {each:,.1f} | {calls:,.1f} | {sum(times) / len(times):,.1f} | `{name[:90]}` |")


def limit(run: dict[str, Any], args: argparse.Namespace, batch: int, bandwidth: float) -> tuple[float, float]:
    """Seconds to read the weights, and seconds of a step's sums."""
    sums = random_model.measured.get(run["tp"], {})
    layers = random_model.SHAPES[args.shape][2]
    nearest = min((n for n in sums if n >= batch), default=max(sums, default=0))
    return run["weight_bytes"] / bandwidth, (2 * layers + 1) * sums.get(nearest, 0.0)


def same_ids(run: dict[str, Any], first: dict[str, Any]) -> str:
    equal = total = 0
    for mine, theirs in zip(run["ids"], first["ids"], strict=True):
        total += len(theirs)
        equal += next((i for i, pair in enumerate(zip(mine, theirs, strict=True)) if pair[0] != pair[1]), len(theirs))
    return f"{equal} of {total}"


def report(args: argparse.Namespace, runs: list[dict[str, Any]], bandwidth: float) -> None:
    first = runs[0]
    print(f"\nA copy moves {bandwidth / 1e9:,.0f} GB/s (read and written). One sum of [rows, hidden], µs:\n")
    for tp, times in random_model.measured.items():
        print(f"- {tp} ranks: " + ", ".join(f"{n} rows {t * 1e6:.1f}" for n, t in times.items()))
    print("\n| ranks | batch | ms a step | × the first | tokens/s | weights ms | sums ms | limit ms | of the limit |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for batch in args.batch:
        for run in runs:
            step, (weights, sums) = run["step"][batch], limit(run, args, batch, bandwidth)
            cells = [run["tp"], batch, f"{step * 1e3:.3f}", f"{first['step'][batch] / step:.2f}"]
            cells += [f"{batch / step:,.0f}", *(f"{t * 1e3:.3f}" for t in (weights, sums, weights + sums))]
            print(f"| {' | '.join(map(str, cells))} | {(weights + sums) / step:.0%} |")
    print("\n| ranks | prefill tokens/s | × the first | weights a rank, GB | ids as on the first |")
    print("|--:|--:|--:|--:|--:|")
    for run in runs:
        cells = [run["tp"], f"{run['prefill']:,.0f}", f"{run['prefill'] / first['prefill']:.2f}"]
        cells += [f"{run['weight_bytes'] / 1e9:.2f}", same_ids(run, first)]
        print(f"| {' | '.join(map(str, cells))} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=random_model.SHAPES, default=None)
    parser.add_argument("--tp", type=numbers, default=[1, 2], help="numbers of ranks, with commas")
    parser.add_argument("--batch", type=numbers, default=None, help="requests that decode, with commas")
    parser.add_argument("--device", default=None, help="cuda or cpu")
    parser.add_argument("--steps", type=int, default=60, help="decode rounds that are timed")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-graphs", action="store_true")
    parser.add_argument("--profile", type=int, metavar="BATCH", help="and list the kernels of a step of this batch")
    parser.add_argument("--record", type=Path, help="write the numbers to this JSON file")
    args = parser.parse_args()
    device = as_device(args.device)
    args.device, args.shape = device.type, args.shape or ("14b" if device.type == "cuda" else "tiny")
    args.batch = args.batch or ([1, 16, 64] if device.type == "cuda" else [1, 4])
    print(machine())
    print(f"\nQwen3-{args.shape}'s shape, random weights; prompts of {PROMPT}, {args.steps} rounds; command:\n")
    print(f"    python benchmarks/tp.py {' '.join(sys.argv[1:])}")
    bandwidth = random_model.copy_bandwidth(device)
    runs = [measure(args, tp) for tp in args.tp]
    report(args, runs, bandwidth)
    if args.record:
        told = {"machine": machine(), "shape": args.shape, "bandwidth": bandwidth, "sums": random_model.measured}
        args.record.write_text(json.dumps(told | {"runs": runs}), encoding="utf-8")


if __name__ == "__main__":
    main()
