"""Offline throughput on one GPU, the workload of mini-sglang's README, and what each technique brings.

    python benchmarks/gpu_offline.py                      # the table: eager, + FlashInfer, + graphs, + overlap
    python benchmarks/gpu_offline.py --ways 4             # the last row only
    python benchmarks/gpu_offline.py --shape 8b --ways 4 --no-offline

The model is random, of Qwen3-0.6B's shape (or another's), and made in memory: its tokens mean nothing. 256 prompts of
100 to 1,024 ids below 10,000, outputs of 100 to 1,024 tokens, EOS ignored; medians. "ms a step" is the median time
between two decode rounds of 1 and of 64 requests at about 230 positions each. Each row has a process of its own.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import statistics
import sys
import time
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

from common import alone, machine
from random_model import SHAPES, load

from minisgl_lite import LLM, SamplingParams
from minisgl_lite.assembly import Custom

STEADY_KV, STEADY_ROUNDS = 230, 60


@dataclasses.dataclass(frozen=True)
class Way:
    """One row of the table."""

    name: str
    options: dict[str, Any]
    slow: bool = False
    """Measured once, not repeated: a minute or two a run."""


OFF = {"attention_backend": "torch", "cuda_graph_max_bs": 0, "overlap": False}
WAYS = [
    Way("eager, torch attention", OFF, slow=True),
    Way("+ FlashInfer and fused kernels", OFF | {"attention_backend": "flashinfer"}, slow=True),
    Way("+ CUDA graphs", OFF | {"attention_backend": "flashinfer", "cuda_graph_max_bs": 256}),
    Way("+ overlap", {"attention_backend": "flashinfer", "cuda_graph_max_bs": 256, "overlap": True}),
]


def workload(requests: int, vocab: int) -> tuple[list[list[int]], list[int]]:
    """Prompts and output lengths, drawn as mini-sglang's benchmark draws them."""
    random.seed(0)
    top = min(10000, vocab - 1)
    prompts = [[random.randint(0, top) for _ in range(random.randint(100, 1024))] for _ in range(requests)]
    return prompts, [random.randint(100, 1024) for _ in range(requests)]


def offline(llm: LLM, prompts: list[list[int]], lengths: list[int], temperature: float) -> float:
    """Output tokens a second."""
    params = [SamplingParams(max_tokens=n, ignore_eos=True, temperature=temperature) for n in lengths]
    start = time.perf_counter()
    done = llm.generate(prompts, params)
    seconds = time.perf_counter() - start
    return sum(len(one.token_ids) for one in done) / seconds


def steady(llm: LLM, running: int, vocab: int) -> float:
    """Median milliseconds between two decode rounds of `running` requests."""
    draw = random.Random(1)
    for _ in range(running):
        prompt = [draw.randrange(vocab) for _ in range(STEADY_KV - STEADY_ROUNDS // 2)]
        llm.submit(prompt, SamplingParams(max_tokens=STEADY_ROUNDS + 8, ignore_eos=True))
    times = []
    while llm.has_work:
        llm.step()
        if llm.trace[-1:] and llm.trace[-1].phase == "decode" and len(llm.trace[-1].entries) == running:
            times.append(time.perf_counter())
    gaps = [(b - a) * 1e3 for a, b in pairwise(times[4:])]
    return statistics.median(gaps[:STEADY_ROUNDS])


def measure(way: Way, args: argparse.Namespace) -> dict[str, Any]:
    """A row of the table: offline tokens/s greedy and sampled, ms a step at each number of running requests."""
    llm = LLM(
        args.shape,
        custom=Custom(load=load),
        max_seq_len=2048 + 64,
        page_size=args.page_size,
        **({"num_pages": args.num_pages} if args.num_pages else {}),
        **way.options,
    )
    vocab = llm._parts.checkpoint.config.vocab_size
    row: dict[str, Any] = {"way": way.name}
    if args.offline:
        prompts, lengths = workload(args.requests, vocab)
        offline(llm, prompts[:64], [16] * len(prompts[:64]), 0.6)
        rates: dict[float, list[float]] = {0.0: [], 0.6: []}
        for repeat in range(1 if way.slow else args.repeats):
            for number, temperature in enumerate(rates):
                # the prompts differ from all before in their first token: nothing is found in the prefix cache
                fresh = [[vocab - 1 - 2 * repeat - number, *prompt[1:]] for prompt in prompts]
                rates[temperature].append(rate := offline(llm, fresh, lengths, temperature))
                print(f"  {way.name}, temperature {temperature}: {rate:,.0f} tokens/s", flush=True)
        row |= {"greedy": statistics.median(rates[0.0]), "sampled": statistics.median(rates[0.6])}
    for running in args.running:
        steady(llm, running, vocab)
        row[f"ms{running}"] = statistics.median(steady(llm, running, vocab) for _ in range(3))
        print(f"  {way.name}, {running} running: {row[f'ms{running}']:.2f} ms a step", flush=True)
    llm.close()
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, default="0.6b")
    parser.add_argument(
        "--ways", type=int, nargs="+", choices=range(1, 5), default=range(1, 5), help="rows of the table"
    )
    parser.add_argument("--requests", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--running", type=int, nargs="*", default=[1, 64])
    parser.add_argument("--num-pages", type=int)
    parser.add_argument("--page-size", type=int, default=16)
    parser.add_argument("--no-offline", dest="offline", action="store_false", help="only the time of a step")
    parser.add_argument("--record", type=Path, help="write the table as JSON")
    args = parser.parse_args()
    print(machine())
    rows = [alone(measure, WAYS[n - 1], args) for n in args.ways]
    titles = {"way": "way", "greedy": "greedy tokens/s", "sampled": "temperature 0.6 tokens/s"}
    titles |= {f"ms{n}": f"ms a step, {n} running" for n in args.running}
    print("\n| " + " | ".join(titles[name] for name in rows[0]) + " |\n|---|" + "--:|" * (len(rows[0]) - 1))
    for row in rows:
        cells = (f"{v:.2f}" if k.startswith("ms") else v if k == "way" else f"{v:,.0f}" for k, v in row.items())
        print("| " + " | ".join(cells) + " |")
    if args.record:
        command = " ".join(["python benchmarks/gpu_offline.py", *sys.argv[1:]])
        record = {"machine": machine(), "date": date.today().isoformat(), "command": command, "rows": rows}
        args.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
