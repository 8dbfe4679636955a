"""The products of a decode step of one request: cuBLAS beside the kernel for a single row. One GPU.

    python benchmarks/matvec.py
    python benchmarks/matvec.py --rows 1 2 4 8        # cuBLAS for more rows, too

Random weights of Qwen3's shapes. Each product is captured in a CUDA graph, many times with other weights, so that none
of them is still in the cache, and none starts before the last one is done (`benchmarks/pdl.py` measures that); µs a
product are medians of five replays, the two ways in turn. "read" is the time to read the weights at the bandwidth of a
large copy. Gate and up include SiLU and the product of the two.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
import torch.nn.functional as F
from common import machine
from random_model import SHAPES, copy_bandwidth

MODELS = {"Qwen3-0.6B": ("0.6b", 1), "Qwen3-8B": ("8b", 1), "Qwen3-14B": ("14b", 1), "half of Qwen3-14B": ("14b", 2)}
"""What is measured: a shape, and on how many ranks; a rank of two has half of all but the hidden size."""
CACHE = 300 << 20
Product = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def products(shape: str, ranks: int) -> dict[str, tuple[int, int, Product, Product]]:
    """By name: outputs, inputs, with cuBLAS, with the kernel for a row."""
    from minisgl_lite.kernels.activation import silu_mul
    from minisgl_lite.kernels.matvec import gated_linear, linear

    hidden, inner, _, heads, kv_heads, dim, vocab = SHAPES[shape]
    rows = {
        "q, k, v": ((heads + 2 * kv_heads) * dim // ranks, hidden),
        "o": (hidden, heads * dim // ranks),
        "gate, up": (2 * inner // ranks, hidden),
        "down": (hidden, inner // ranks),
        "vocabulary": (vocab // ranks, hidden),
    }
    return {
        name: (*size, lambda x, w: silu_mul(F.linear(x, w)), gated_linear)
        if name == "gate, up"
        else (*size, F.linear, linear)
        for name, size in rows.items()
    }


def captured(work: Product, x: torch.Tensor, weights: list[torch.Tensor], times: int) -> torch.cuda.CUDAGraph:
    work(x, weights[0])
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(times):
            work(x, weights[i % len(weights)])
    return graph


def microseconds(graph: torch.cuda.CUDAGraph, times: int) -> float:
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    graph.replay()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / times * 1e3


def measure(ways: list[tuple[Product, torch.Tensor]], weights: list[torch.Tensor]) -> list[float]:
    """µs a product of each way, medians of repeats in turn."""
    from minisgl_lite.kernels import pdl

    times = 64 if weights[0].numel() < 5e7 else 16
    with patch.object(pdl, "supported", return_value=False):
        graphs = [captured(work, x, weights, times) for work, x in ways]
    for graph in graphs:
        microseconds(graph, times)
    rounds = [[microseconds(graph, times) for graph in graphs] for _ in range(5)]
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


def table(rows: list[int], bandwidth: float) -> list[dict[str, Any]]:
    """Measure all products, print each as it is done."""
    print("| model | product | weights | read µs | a row, ours µs |" + "".join(f" {n}, cuBLAS µs |" for n in rows))
    print("|---|---|--:|--:|--:|" + "--:|" * len(rows))
    lines = []
    for model, part in MODELS.items():
        for name, (outputs, inputs, library, ours) in products(*part).items():
            size = 2 * outputs * inputs
            copies = max(3, min(64, CACHE // size))
            weights = [torch.randn(outputs, inputs, device="cuda").bfloat16() for _ in range(copies)]
            x = [torch.randn(n, inputs, device="cuda").bfloat16() for n in (1, *rows)]
            mine, *theirs = measure([(ours, x[0]), *((library, some) for some in x[1:])], weights)
            read = size / bandwidth * 1e6
            lines.append({"model": model, "product": name, "read": read, "ours": mine, "cublas": theirs})
            cells = [f"{micros:.1f}" for micros in (read, mine, *theirs)]
            print(f"| {model} | {name} | {outputs:,} x {inputs:,} | {' | '.join(cells)} |", flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1], help="numbers of rows that cuBLAS is measured with")
    parser.add_argument("--record", type=Path, help="write the numbers to this JSON file")
    args = parser.parse_args()
    if not torch.cuda.is_available():
        parser.error("needs a CUDA GPU")
    bandwidth = copy_bandwidth(torch.device("cuda"))
    print(machine())
    print(f"A copy moves {bandwidth / 1e9:,.0f} GB/s (read and written).\n")
    lines = table(args.rows, bandwidth)
    if args.record:
        told = {"machine": machine(), "bandwidth": bandwidth, "rows": args.rows, "products": lines}
        args.record.write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main()
