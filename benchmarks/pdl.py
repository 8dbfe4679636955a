"""Decode steps whose kernels start early (programmatic dependent launch), beside those whose kernels wait. One GPU.

    python benchmarks/pdl.py
    python benchmarks/pdl.py --shape 8b --batch 1,16

Random weights, prompts of 128 tokens. Engines that differ in nothing but how their kernels are launched, in turn, each
in a process of its own: after or beside an engine of the other kind, one whose kernels start early took up to a tenth
longer. ms a step are medians of repeats. All must find the same tokens.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any
from unittest.mock import patch

import random_model
import torch
from common import alone, machine
from tp import PROMPT, decode_step, numbers, open_engine, prompts
from tqdm import tqdm

from minisgl_lite import SamplingParams


def measure(args: argparse.Namespace, early: bool) -> dict[str, Any]:
    """Tokens, and ms a step for each batch, of an engine whose kernels may start early or not."""
    from minisgl_lite.kernels import pdl

    vocab = random_model.SHAPES[args.shape][-1]
    with patch.object(pdl, "supported", return_value=early), open_engine(args, 1) as llm:
        outs = llm.generate(prompts(16, PROMPT, vocab, seed=7), SamplingParams(max_tokens=32, ignore_eos=True))
        ids = [out.token_ids for out in outs]
        return {"ids": ids, "ms": [decode_step(llm, batch, args.steps, vocab) * 1e3 for batch in args.batch]}


def possible() -> bool:
    """Whether kernels can start early on this machine."""
    if not torch.cuda.is_available():
        return False
    from minisgl_lite.kernels import pdl

    return pdl.supported()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=random_model.SHAPES, default="0.6b")
    parser.add_argument("--batch", type=numbers, default=[1, 16, 64, 256], help="requests that decode, with commas")
    parser.add_argument("--steps", type=int, default=60, help="decode rounds that are timed")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--record", type=Path, help="write the numbers to this JSON file")
    args = parser.parse_args()
    if not possible():
        parser.error("needs a CUDA GPU of compute capability 9.0 or later, and Triton 3.5 or later")
    args.device, args.no_graphs = "cuda", False
    print(machine())
    rounds = [
        [alone(measure, args, early) for early in (False, True)] for _ in tqdm(range(args.repeats), desc="repeats")
    ]
    equal = all(run["ids"] == rounds[0][0]["ids"] for pair in rounds for run in pair)
    print(f"Qwen3-{args.shape}'s shape: tokens {'equal' if equal else 'DIFFER'}\n")
    print("| batch | in turn, ms a step | early, ms a step | |\n|--:|--:|--:|--:|")
    rows = []
    for i, batch in enumerate(args.batch):
        turn, early = (statistics.median(pair[way]["ms"][i] for pair in rounds) for way in (0, 1))
        rows.append({"batch": batch, "turn": turn, "early": early})
        print(f"| {batch} | {turn:.3f} | {early:.3f} | {early / turn - 1:+.1%} |")
    if args.record:
        told = {"machine": machine(), "shape": args.shape, "equal": equal, "rows": rows}
        args.record.write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main()
