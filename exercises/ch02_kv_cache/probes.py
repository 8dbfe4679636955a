"""What the judge asks of the student's code: chapter 02. Runs in the graded process; returns plain values."""

from __future__ import annotations

from typing import Any

import torch

from minisgl_lite.attention.dense import DenseAttention, DenseCache
from minisgl_lite.models.checkpoint import Checkpoint, load
from minisgl_lite.models.decoder import Attend
from minisgl_lite.models.greedy import generate_greedy
from minisgl_lite.models.scripted import scripted_config


def probe_attend(args: dict[str, Any]) -> list[dict[str, Any]]:
    """Calls on one cache whose former owner left something everywhere; output and cache after each of them."""
    old_k, old_v = torch.tensor(args["k"]), torch.tensor(args["v"])
    layers, rows, max_len = old_k.shape[:3]
    cache = DenseCache(scripted_config(num_layers=layers), rows, max_len)
    cache.k.copy_(old_k)
    cache.v.copy_(old_v)
    seen = []
    for call in args["calls"]:
        attend = DenseAttention(cache, call["rows"], call["starts"], call["lens"])
        out = attend(call["layer"], *(torch.tensor(call[name]) for name in "qkv"))
        kind = "" if isinstance(out, torch.Tensor) else type(out).__name__
        values = out if not kind else torch.empty(0)
        seen.append(
            {
                "kind": kind,
                "shape": list(values.shape),
                "out": values.tolist(),
                "k": cache.k.tolist(),
                "v": cache.v.tolist(),
            }
        )
    return seen


class SumDecoder:
    """A CausalLM whose next token follows from the sum of all tokens so far, which it learns through attention only.

    All keys are 0, so every query gives all that it sees the same weight, and the value of a token is its id: the
    output is the mean of the ids seen. It notes what it was asked.
    """

    def __init__(self, eos_ids: tuple[int, ...], max_seq_len: int, vocab_size: int) -> None:
        self.config = scripted_config(vocab_size, num_layers=2, max_seq_len=max_seq_len, eos_ids=eos_ids)
        self.calls: list[dict[str, Any]] = []

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, attend: Attend) -> torch.Tensor:
        """-> [T, 2]: the mean of what each position sees, and its position."""
        config, tokens = self.config, len(ids)
        values = ids.float()[:, None, None].expand(-1, config.num_kv_heads, config.head_dim).contiguous()
        q = torch.zeros(tokens, config.num_heads, config.head_dim)
        for layer in range(config.num_layers):
            out = attend(layer, q, torch.zeros_like(values), values)
        seen = out[:, 0, 0]
        self.calls.append({"ids": ids.tolist(), "positions": positions.tolist(), "seen": seen.tolist(), "rows": 0})
        return torch.stack((seen, positions.float()), 1)

    __call__ = forward

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """1 at the token that follows, 0 elsewhere."""
        total = (hidden[..., 0] * (hidden[..., 1] + 1)).round().long()
        self.calls[-1]["rows"] += total.numel()
        following = (7 * total + 3) % self.config.vocab_size
        return torch.nn.functional.one_hot(following, self.config.vocab_size).float()


def probe_generate(args: dict[str, Any]) -> dict[str, Any]:
    """One greedy run of the SumDecoder: the answer, every forward pass, and the prompt as the caller finds it then."""
    decoder = SumDecoder(tuple(args["eos"]), args["max_seq_len"], args["vocab"])
    prompt: Any = tuple(args["prompt"]) if args["tuple"] else list(args["prompt"])
    checkpoint = Checkpoint(decoder.config, decoder, None)
    refused, answer = "", None
    try:
        answer = generate_greedy(checkpoint, prompt, args["max_tokens"], ignore_eos=args["ignore_eos"])
    except ValueError as error:
        refused = str(error) or "ValueError"
    return {"answer": answer, "calls": decoder.calls, "prompt": list(prompt), "refused": refused}


def probe_greedy(args: dict[str, Any]) -> list[list[int]]:
    """Greedy tokens of the bundled model."""
    checkpoint = load("tiny", device="cpu")
    return [generate_greedy(checkpoint, p, args["max_tokens"], ignore_eos=True) for p in args["prompts"]]
