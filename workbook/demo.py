"""`make demo`: the main job on the bundled model, shown round by round and checked against Hugging Face."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

# the bundled model is so small that two threads spend more time meeting than computing
os.environ.setdefault("OMP_NUM_THREADS", "1")

from minisgl_lite import LLM, Completion, SamplingParams
from minisgl_lite.trace import Round

from .spec import load_exercises
from .tree import ROOT

PROMPTS = (
    ("The capital of France is", 12),
    ("1 + 1 =", 4),
    ("Once upon a time,", 40),
    ("中国的首都是", 10),
    ("def fibonacci(n):", 28),
    ("Count from 7 to 20:", 24),
    ("List three prime numbers:", 10),
)
SLOTS = 4
MINUTES = "about a minute on a fast machine, up to five on a busy one"
TIE = 1e-3
"""Where Hugging Face's two best logits are closer than this, either token is right."""


def main(argv: Sequence[str] = ()) -> int:
    """Run the demo; 0 when every output and every reference solution is right."""
    if argv:
        print(f"demo takes no arguments, got {' '.join(argv)}", file=sys.stderr)
        return 2
    print(f"minisgl_lite on {platform.system()} {platform.machine()}, Python {platform.python_version()}, CPU\n")
    prompts, params = [text for text, _ in PROMPTS], [SamplingParams(max_tokens=n) for _, n in PROMPTS]
    with LLM("tiny", device="cpu", max_running_req=SLOTS, page_size=4, num_pages=256) as llm:
        encoded = [llm.tokenizer.encode(text) for text in prompts]
        llm.generate([encoded[0]], SamplingParams(max_tokens=1))
        warm = len(llm.trace)
        start = time.perf_counter()
        outputs = llm.generate(prompts, params)
        seconds = time.perf_counter() - start
        rounds = llm.trace[warm:]
        llm.check_invariants()
    print(f"{len(prompts)} prompts, room for {SLOTS} at a time. A line is a request, a column a round:")
    print("P prefill, D decode, . waiting, blank running but not in this round's batch\n")
    print(gantt(rounds, prompts))
    tokens = sum(len(out.token_ids) for out in outputs)
    print(f"\n{tokens} tokens in {len(rounds)} rounds and {seconds:.2f} s: {tokens / seconds:.0f} tokens/s\n")
    wrong = compare(encoded, outputs, [n for _, n in PROMPTS])
    solutions = len(load_exercises(ROOT))
    print(
        f"\nThe judge on the course's own {solutions} solutions, not on yours: two at a time, {MINUTES}.\n", flush=True
    )
    graded = subprocess.run([sys.executable, "judge.py", "--reference"], cwd=ROOT).returncode  # negative when killed
    if not (graded or wrong):
        print("\nAll is well. Next: make lab (it opens your own copy of the first chapter that you have not finished)")
    return graded or int(wrong > 0)


def gantt(rounds: Sequence[Round], prompts: Sequence[str]) -> str:
    """One line a request, one letter a round."""
    first = min(uid for r in rounds for uid, _, _ in r.entries)
    lines = []
    for uid, text in enumerate(prompts, start=first):
        active = [i for i, r in enumerate(rounds) if any(entry[0] == uid for entry in r.entries)]
        cells = ""
        for i, r in enumerate(rounds[: active[-1] + 1]):
            cells += r.phase[0].upper() if i in active else "." if i < active[0] else " "
        lines.append(f"  {pad(text, 28)} {cells}")
    return "\n".join(lines)


def pad(text: str, width: int) -> str:
    """Fill up to `width` columns; Chinese characters take two."""
    return text + " " * (width - sum(2 if ord(char) > 0x2E7F else 1 for char in text))


def compare(encoded: Sequence[list[int]], outputs: Sequence[Completion], most: Sequence[int]) -> int:
    """Print each output beside Hugging Face's greedy one; returns how many differ."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    from minisgl_lite.models.checkpoint import locate

    print("Each output beside Hugging Face's greedy decoding, one prompt at a time:\n")
    logging.disable_progress_bar()
    model: Any = AutoModelForCausalLM.from_pretrained(locate("tiny"), dtype=torch.float32).eval()
    wrong = 0
    for ids, out, n, (text, _) in zip(encoded, outputs, most, PROMPTS, strict=True):
        result = model.generate(
            torch.tensor([ids]),
            attention_mask=torch.ones(1, len(ids), dtype=torch.int64),
            max_new_tokens=n,
            do_sample=False,
            output_scores=True,
            return_dict_in_generate=True,
        )
        verdict = judge(out, result.sequences[0, len(ids) :].tolist(), torch.stack(result.scores)[:, 0])
        wrong += verdict == "DIFFERENT"
        print(f"  {verdict:9}  {text}|{out.text!r:.70}")
    return wrong


def judge(out: Completion, reference: list[int], scores: object) -> str:
    """equal, tie or DIFFERENT. The reference keeps the token of a stop, the output does not."""
    import torch

    assert isinstance(scores, torch.Tensor)
    ours = list(out.token_ids)
    if ours == reference[: len(ours)] and len(reference) - len(ours) == (out.finish_reason == "stop"):
        return "equal"
    step = next((i for i, (a, b) in enumerate(zip(ours, reference, strict=False)) if a != b), len(ours))
    best = scores[min(step, len(scores) - 1)].topk(2).values
    return "tie" if float(best[0] - best[1]) < TIE else "DIFFERENT"
