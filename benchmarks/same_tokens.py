"""Ten prompts through the engine and through Hugging Face, greedy, fp32: are the tokens the same?

    python benchmarks/same_tokens.py --model smollm2

Where Hugging Face's two best logits are closer than 1e-3 at the first difference, the verdict is a tie: either token is
right. Exits with 1 when any prompt differs otherwise.
"""

from __future__ import annotations

import argparse
import os
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from common import machine
from transformers import AutoModelForCausalLM
from transformers.utils import logging

from minisgl_lite import LLM, SamplingParams
from minisgl_lite.models.checkpoint import locate

TIE = 1e-3
PROMPTS = [
    "The capital of France is",
    "Once upon a time, there was a",
    "def fibonacci(n):",
    "The three laws of motion are",
    "Q: What is 12 times 12?\nA:",
    "Dear Sir or Madam,",
    "Water boils at",
    "1, 2, 3, 5, 8, 13,",
    "import torch\n",
    "The quick brown fox",
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--tokens", type=int, default=32)
    args = parser.parse_args()
    logging.disable_progress_bar()
    print(machine())
    with LLM(args.model, dtype="float32", device="cpu", page_size=16, max_running_req=4, max_seq_len=256) as llm:
        encoded = [llm.tokenizer.encode(text) for text in PROMPTS]
        ours = [o.token_ids for o in llm.generate(encoded, SamplingParams(max_tokens=args.tokens, ignore_eos=True))]
        llm.check_invariants()
    model = AutoModelForCausalLM.from_pretrained(locate(args.model), dtype=torch.float32).eval()
    verdicts = [compare(model, ids, mine) for ids, mine in zip(encoded, ours, strict=True)]
    for text, verdict in zip(PROMPTS, verdicts, strict=True):
        print(f"  {verdict:40} {text!r}")
    equal, ties = sum(v == "equal" for v in verdicts), sum(v.startswith("tie") for v in verdicts)
    print(f"{args.model}: {equal} of {len(PROMPTS)} equal over {args.tokens} tokens, {ties} ties")
    return int(equal + ties < len(PROMPTS))


@torch.inference_mode()
def compare(model: AutoModelForCausalLM, ids: list[int], ours: list[int]) -> str:
    """equal, tie at a step, or different at a step, with the gap there."""
    prompt = torch.tensor([ids])
    result = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        max_new_tokens=len(ours),
        do_sample=False,
        eos_token_id=None,
        pad_token_id=0,
        output_scores=True,
        return_dict_in_generate=True,
    )
    reference = result.sequences[0, len(ids) :].tolist()
    if reference == ours:
        return "equal"
    step = next(i for i, (a, b) in enumerate(zip(ours, reference, strict=True)) if a != b)
    best = result.scores[step][0].topk(2).values
    gap = float(best[0] - best[1])
    return f"{'tie' if gap < TIE else 'DIFFERENT'} at step {step} (gap {gap:.2g})"


if __name__ == "__main__":
    sys.exit(main())
