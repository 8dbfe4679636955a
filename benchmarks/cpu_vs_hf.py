"""Throughput on a CPU beside Hugging Face: one by one, a static padded batch, generate_batch.

    python benchmarks/cpu_vs_hf.py                     # the bundled model, 64 requests
    python benchmarks/cpu_vs_hf.py --model smollm2 --requests 8

All ways run the same requests in one process, interleaved and repeated: ratios of medians can be compared, single
numbers only on one machine. Every way must give the same tokens; where two are tied, that is counted and shown.
generate_batch is so slow on a CPU that it runs on the first few requests only, beside ours on those.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from common import machine
from transformers import AutoModelForCausalLM, GenerationConfig
from transformers.utils import logging

from minisgl_lite import LLM, SamplingParams
from minisgl_lite.models.checkpoint import locate

Requests = list[tuple[list[int], int]]
Way = Callable[[Requests], list[list[int]]]


def draw(count: int, vocab: int, longest: int, seed: int = 0) -> Requests:
    """(prompt ids, tokens to generate): both 16 to `longest`, uniform."""
    rnd = random.Random(seed)
    prompts = [[rnd.randrange(10, vocab) for _ in range(rnd.randint(16, longest))] for _ in range(count)]
    return [(prompt, rnd.randint(16, longest)) for prompt in prompts]


def hf_one_by_one(model: Any) -> Way:
    def run(requests: Requests) -> list[list[int]]:
        out = []
        for prompt, n in requests:
            ids = torch.tensor([prompt])
            result = model.generate(ids, attention_mask=torch.ones_like(ids), **greedy(n))
            out.append(result[0, len(prompt) :].tolist())
        return out

    return run


def hf_static(model: Any) -> Way:
    """All requests at once, padded on the left, until the longest output is done."""

    def run(requests: Requests) -> list[list[int]]:
        width = max(len(prompt) for prompt, _ in requests)
        ids = torch.tensor([[0] * (width - len(p)) + p for p, _ in requests])
        mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p, _ in requests])
        result = model.generate(ids, attention_mask=mask, **greedy(max(n for _, n in requests)))
        return [row[width : width + n].tolist() for row, (_, n) in zip(result, requests, strict=True)]

    return run


def hf_continuous(model: Any) -> Way:
    """transformers' own continuous batching; outputs are cut to what was asked."""

    def run(requests: Requests) -> list[list[int]]:
        longest = max(n for _, n in requests)
        config = GenerationConfig(**greedy(longest), use_cuda_graph=False)
        results = model.generate_batch([prompt for prompt, _ in requests], generation_config=config, progress_bar=False)
        ordered = sorted(results.values(), key=lambda r: int(str(r.request_id).rsplit("_", 1)[-1]))
        return [list(r.generated_tokens)[:n] for r, (_, n) in zip(ordered, requests, strict=True)]

    return run


def greedy(n: int) -> dict[str, Any]:
    return {"max_new_tokens": n, "do_sample": False, "eos_token_id": None, "pad_token_id": 0}


def ours(model: str, page_size: int, longest: int) -> Way:
    llm = LLM(model, dtype=torch.float32, device="cpu", page_size=page_size, max_seq_len=2 * longest + 16)

    def run(requests: Requests) -> list[list[int]]:
        params = [SamplingParams(max_tokens=n, ignore_eos=True) for _, n in requests]
        return [out.token_ids for out in llm.generate([prompt for prompt, _ in requests], params)]

    return run


class Entrant(NamedTuple):
    """One way of running the first `count` requests."""

    name: str
    way: Way
    count: int


def entrants(args: argparse.Namespace) -> list[Entrant]:
    """Who takes part; a way that does not work here is told and left out."""
    folder, everything = locate(args.model), args.requests
    few = min(args.generate_batch, everything)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    found = [
        Entrant("HF one by one", hf_one_by_one(model), everything),
        Entrant("HF static padded", hf_static(model), everything),
    ]
    by_size = {size: ours(args.model, size, args.longest) for size in (1, 16)}
    found += [Entrant(f"ours, page size {size}", way, everything) for size, way in by_size.items()]
    if few:
        paged = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="paged|sdpa")
        try:
            hf_continuous(paged.eval())([([5, 6, 7], 2)])
        except Exception as error:  # whatever keeps it from running here belongs in the report
            print(f"HF generate_batch does not run here: {type(error).__name__}: {error!s:.150}")
        else:
            found.append(Entrant(f"HF generate_batch, first {few}", hf_continuous(paged), few))
            found.append(Entrant(f"ours, page size 16, first {few}", by_size[16], few))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--requests", type=int, default=64)
    parser.add_argument("--longest", type=int, default=256, help="longest prompt and longest output")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--generate-batch", type=int, default=8, metavar="N", help="requests for it; 0 leaves it out")
    args = parser.parse_args()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    print(machine())
    everyone = entrants(args)
    vocab = AutoModelForCausalLM.from_pretrained(locate(args.model)).config.vocab_size
    requests = draw(args.requests, vocab, args.longest)
    total = sum(n for _, n in requests)
    print(
        f"{args.model}: {len(requests)} requests, {sum(len(p) for p, _ in requests)} prompt and {total} output tokens\n"
    )
    times: dict[str, list[float]] = {entrant.name: [] for entrant in everyone}
    outputs: dict[str, list[list[int]]] = {}
    with torch.inference_mode():
        for entrant in everyone:
            entrant.way(requests[:2])
        for repeat in range(args.repeats):
            for name, way, count in everyone:
                start = time.perf_counter()
                outputs[name] = way(requests[:count])
                times[name].append(time.perf_counter() - start)
                print(f"  repeat {repeat + 1}/{args.repeats}: {name} {times[name][-1]:.2f} s", flush=True)
    report(times, outputs, requests)


def report(times: dict[str, list[float]], outputs: dict[str, list[list[int]]], requests: Requests) -> None:
    """The table: medians, spread, ratios of tokens/s to each of HF's ways, how many requests have HF's tokens."""
    rate = {
        name: sum(n for _, n in requests[: len(outputs[name])]) / statistics.median(seconds)
        for name, seconds in times.items()
    }
    print("\n| way | median s | min to max s | tokens/s | x HF static | x one by one | same tokens as one by one |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name, seconds in times.items():
        same = sum(a == b for a, b in zip(outputs[name], outputs["HF one by one"], strict=False))
        cells = [
            name,
            f"{statistics.median(seconds):.2f}",
            f"{min(seconds):.2f} to {max(seconds):.2f}",
            f"{rate[name]:.0f}",
            f"{rate[name] / rate['HF static padded']:.2f}",
            f"{rate[name] / rate['HF one by one']:.2f}",
            f"{same} of {len(outputs[name])}",
        ]
        print("|", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
